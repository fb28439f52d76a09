/* bug:
 *   rule atomicity | atomic-set
 *   variable Blocks.next
 *   evidence harmful
 *   outcome exception
 * about: Looking for a free block and marking it are each synchronized, allocating is not: two threads find the same
 *   block, and the second to mark it fails.
 */
public class AllocationVector {
    static class Blocks {
        private final boolean[] used = new boolean[4];
        private int next;

        synchronized int findFree() {
            return next;
        }

        synchronized void mark(int block) {
            if (block < next) {
                throw new IllegalStateException("block " + block + " is in use");
            }
            used[block] = true;
            next = block + 1;
        }

        synchronized int count() {
            int count = 0;
            for (boolean each : used) {
                if (each) {
                    count++;
                }
            }
            return count;
        }
    }

    static class Allocator {
        private final Blocks blocks;

        Allocator(Blocks blocks) {
            this.blocks = blocks;
        }

        int allocate() {
            int block = blocks.findFree();
            blocks.mark(block);
            return block;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Blocks blocks = new Blocks();
        Allocator allocator = new Allocator(blocks);
        runBoth(allocator::allocate, allocator::allocate);
        System.out.println("in use " + blocks.count());
        if (blocks.count() != 2) {
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
