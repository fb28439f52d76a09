/* silent
 * A stack of three threads that push and pop by compare-and-set: which element a thread gets depends on the others, and every
 * order is right.
 */
import java.util.concurrent.atomic.AtomicReference;

public class CompareAndSetThree {
    static class Stack {
        private record Node(int value, Node below) {
        }

        private final AtomicReference<Node> top = new AtomicReference<>();

        Node push(int value) {
            Node seen;
            Node next;
            do {
                seen = top.get();
                next = new Node(value, seen);
            } while (!top.compareAndSet(seen, next));
            return next;
        }

        Node pop() {
            Node seen;
            do {
                seen = top.get();
            } while (seen != null && !replace(seen, seen.below()));
            return seen;
        }

        private boolean replace(Node seen, Node next) {
            return top.compareAndSet(seen, next);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Stack stack = new Stack();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                stack.push(number);
                if (stack.pop() == null) {
                    throw new AssertionError("lost");
                }
            }, "t" + (i + 1));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(stack.pop() == null);
    }
}
