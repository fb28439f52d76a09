/* expect:
 *   thread main, t1
 *   acquire Guard == 4 by t1
 *   release Guard == 4 by t1
 *   write Guard.value == 4 by t1
 *   enter Guard.fail == 1 by t1
 *   exit Guard.fail == 1 by t1
 * about: an exception leaves a synchronized method, a block, a method called inside a block, and a nested pair; every
 *   lock is given up
 */
public class ExceptionInSynchronized {
    static class Guard {
        int value;

        synchronized void fail() {
            value = 1;
            throw new IllegalStateException("method");
        }

        void failInBlock() {
            synchronized (this) {
                value = 2;
                throw new IllegalStateException("block");
            }
        }

        void failBelow() {
            synchronized (this) {
                value = Integer.parseInt("not a number");
            }
        }

        void failDivision(int by) {
            synchronized (this) {
                value = 3;
                synchronized (this) {
                    value = 1 / by;
                }
            }
        }

        void parse() {
            synchronized (this) {
                value = Integer.parseInt("12");
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Guard guard = new Guard();
        guard.parse();
        Thread t1 = new Thread(() -> {
            attempt(guard::fail);
            attempt(guard::failInBlock);
            attempt(() -> guard.failDivision(0));
            guard.parse();
        }, "t1");
        t1.start();
        t1.join();
        attempt(guard::failBelow);
        System.out.println(guard.value + " " + Thread.holdsLock(guard));
    }

    static void attempt(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) {
            System.out.println(e.getMessage());
        }
    }
}
