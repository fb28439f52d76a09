import java.lang.reflect.Method;

/**
 * A test runner as small as can be, which tells Ravel of its tests as ravel-junit does. Run without an argument it runs all tests; with the
 * id of one, that one. A run of all tests prints a line, so that forced runs of it can be told from those of one test.
 */
public class TellsTests {
    static final class Account {
        private int balance = 10;

        synchronized int balance() {
            return balance;
        }

        synchronized void set(int amount) {
            balance = amount;
        }

        /** Not atomic: another thread can set the balance between the two calls. */
        void pay(int amount) {
            if (balance() >= amount) {
                set(balance() - amount);
            }
        }

        synchronized void paySafely(int amount) {
            pay(amount);
        }
    }

    static void one(String id) throws InterruptedException {
        Account account = new Account();
        boolean safe = id.equals("safe");
        Runnable customer = () -> {
            if (safe) {
                account.paySafely(4);
            } else {
                account.pay(4);
            }
        };
        if (id.equals("single")) {
            customer.run();
            return;
        }
        Thread first = new Thread(customer, "first");
        Thread second = new Thread(() -> {
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                return;
            }
            customer.run();
        }, "second");
        first.start();
        second.start();
        first.join();
        second.join();
        if (account.balance() != 2) {
            throw new IllegalStateException("the balance is " + account.balance());
        }
    }

    static void tell(String method, Class<?>[] types, Object... values) {
        try {
            Method told = Class.forName("java.lang.RavelTests", true, null).getMethod(method, types);
            told.invoke(null, values);
        } catch (ReflectiveOperationException | LinkageError absent) {
            // A JVM without Ravel.
        }
    }

    static void run(String id) throws InterruptedException {
        tell("begin", new Class<?>[] {String.class, String.class}, id, "bank.TellsTests." + id);
        one(id);
        tell("end", new Class<?>[] {String.class}, id);
    }

    public static void main(String[] arguments) throws Exception {
        String java = System.getProperty("java.home") + "/bin/java";
        String here = new java.io.File("").getAbsolutePath();
        String lines = String.join("\n", here, java, "-cp", System.getProperty("java.class.path"), "TellsTests", "");
        tell("runOneBy", new Class<?>[] {String.class}, lines);
        if (arguments.length == 1) {
            run(arguments[0]);
            return;
        }
        for (String id : new String[] {"single", "safe", "broken"}) {
            run(id);
        }
    }
}
