/* expect:
 *   thread main, reader, writer, late
 *   read Box.value >= 8 by reader
 *   read Box.value <= 64 by reader
 *   read long[] >= 8 by reader
 *   read long[] <= 64 by reader
 *   write Box.value >= 8 by writer
 *   write Box.value <= 64 by writer
 *   write long[] >= 8 by writer
 *   write long[] <= 64 by writer
 *   read Box.value == 10 by late
 *   read long[] == 10 by late
 *   write Box.rare == 1 by writer
 * about: what one thread does again and again, while nobody else touches the object, is recorded often enough to stand
 *   for the rest; other code that touches the object, and other threads, are recorded as ever.
 */
public class Settled {
    static final Object LOCK = new Object();

    static final class Box {
        private int value;
        private int rare;
        private final long[] elements = new long[4];

        void fill(int value) {
            this.value = value;
            elements[1] = value;
        }

        long sum() {
            return value + elements[1];
        }

        void rare() {
            rare = 1;
        }
    }

    static void run(String name, Runnable body) throws InterruptedException {
        Thread thread = new Thread(body, name);
        thread.start();
        thread.join();
    }

    static long times(int n, Box box) {
        long sum = 0;
        for (int i = 0; i < n; i++) {
            synchronized (LOCK) {
                sum += box.sum();
            }
        }
        return sum;
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        box.fill(1);
        run("reader", () -> System.out.println("read " + times(5000, box)));
        run("writer", () -> {
            for (int i = 0; i < 5000; i++) {
                synchronized (LOCK) {
                    box.fill(i);
                }
            }
            box.rare();
        });
        run("late", () -> System.out.println("read " + times(10, box)));
    }
}
