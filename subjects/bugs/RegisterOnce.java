/* bug:
 *   rule atomicity | atomic-set
 *   variable Register.names | HashMap.*
 *   evidence harmful
 *   outcome exit | value
 * about: A HashMap behind synchronized methods: has and then put. In an ordinary run the second thread finds the name.
 */
import java.util.HashMap;
import java.util.Map;

public class RegisterOnce {
    static class Register {
        private final Map<String, Integer> names = new HashMap<>();
        private int puts;

        synchronized boolean has(String name) {
            return names.containsKey(name);
        }

        synchronized void put(String name, int number) {
            names.put(name, number);
            puts++;
        }

        synchronized void putOnce(String name, int number) {
            if (!has(name)) {
                put(name, number);
            }
        }

        synchronized int puts() {
            return puts;
        }
    }

    static class Office {
        void enter(Register register, int number) {
            if (!register.has("ann")) {
                register.put("ann", number);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Register register = new Register();
        runBoth(() -> new Office().enter(register, 1), () -> new Office().enter(register, 2));
        System.out.println("puts " + register.puts());
        if (register.puts() != 1) {
            System.exit(1);
        }
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
