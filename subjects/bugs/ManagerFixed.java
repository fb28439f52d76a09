/* fixed: Manager */
public class ManagerFixed {
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

        synchronized void giveBack(int blocks) {
            free += blocks;
            used -= blocks;
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
