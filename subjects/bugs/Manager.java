/* bug:
 *   rule data-race | atomicity
 *   variable Memory.free
 *   evidence harmful
 *   outcome exit | value
 * about: Requests for memory are made under the lock, returning memory forgets it: a request between the read and the
 *   write of the addition is forgotten.
 */
public class Manager {
    static class Memory {
        private int free = 10;
        private int used;

        synchronized boolean request(int blocks) {
            if (free < blocks) {
                return false;
            }
            free -= blocks;
            used += blocks;
            return true;
        }

        void giveBack(int blocks) {
            free += blocks;
            synchronized (this) {
                used -= blocks;
            }
        }

        synchronized int total() {
            return free + used;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Memory memory = new Memory();
        memory.request(4);
        runBoth(() -> memory.giveBack(4), () -> memory.request(3));
        System.out.println("total " + memory.total());
        if (memory.total() != 10) {
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
