/* silent
 * Read, compute, compare-and-set, and again if someone else was faster: repeated until nobody came between.
 */
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

public class CompareAndSetLoop {
    static class Maximum {
        private final AtomicInteger largest = new AtomicInteger();

        void offer(int value) {
            int seen = largest.get();
            while (value > seen && !largest.compareAndSet(seen, value)) {
                seen = largest.get();
            }
        }

        int get() {
            return largest.get();
        }
    }

    static class Stack {
        private record Node(int value, Node below) {
        }

        private final AtomicReference<Node> top = new AtomicReference<>();

        void push(int value) {
            Node seen;
            do {
                seen = top.get();
            } while (!top.compareAndSet(seen, new Node(value, seen)));
        }

        int depth() {
            int depth = 0;
            for (Node node = top.get(); node != null; node = node.below()) {
                depth++;
            }
            return depth;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Maximum maximum = new Maximum();
        Stack stack = new Stack();
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                maximum.offer(10 + number);
                stack.push(number);
            }, "t" + (i + 1));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(maximum.get() + " " + stack.depth());
    }
}
