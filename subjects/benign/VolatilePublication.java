/* silent
 * A writer fills an object and then sets a volatile field to it; readers that see it see all of it.
 */
public class VolatilePublication {
    static class Config {
        private int size;
        private String name;

        Config(int size, String name) {
            this.size = size;
            this.name = name;
        }

        String show() {
            return name + size;
        }
    }

    static class Holder {
        private volatile Config current;

        void publish(Config config) {
            current = config;
        }

        Config current() {
            return current;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Holder holder = new Holder();
        Thread reader = new Thread(() -> {
            Config config = holder.current();
            while (config == null) {
                Thread.onSpinWait();
                config = holder.current();
            }
            System.out.println(config.show());
        }, "reader");
        reader.start();
        Thread writer = new Thread(() -> holder.publish(new Config(3, "big")), "writer");
        writer.start();
        writer.join();
        reader.join();
    }
}
