/* fixed: DeadlockTwo */
public class DeadlockTwoFixed {
    static class Account {
        private final int number;
        private int balance = 100;

        Account(int number) {
            this.number = number;
        }

        void transfer(Account to, int amount) {
            synchronized (number < to.number ? this : to) {
                synchronized (number < to.number ? to : this) {
                    balance -= amount;
                    to.balance += amount;
                }
            }
        }

        synchronized int balance() {
            return balance;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Account ann = new Account(1);
        Account bob = new Account(2);
        runBoth(() -> ann.transfer(bob, 10), () -> bob.transfer(ann, 20));
        System.out.println("ann " + ann.balance() + ", bob " + bob.balance());
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
