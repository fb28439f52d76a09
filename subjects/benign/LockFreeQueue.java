/* silent
 * A queue of Michael and Scott. What its private helpers return depends on how threads meet, and the callers try again: only what
 * the queue hands out counts.
 */
import java.util.concurrent.atomic.AtomicReference;

public class LockFreeQueue {
    static class Node {
        final Integer value;
        final AtomicReference<Node> next = new AtomicReference<>();

        Node(Integer value) {
            this.value = value;
        }
    }

    static class Queue {
        private final AtomicReference<Node> tail = new AtomicReference<>(new Node(null));
        private final AtomicReference<Node> head = new AtomicReference<>(tail.get());

        void put(Integer value) {
            Node node = new Node(value);
            while (!append(node)) {
                Thread.onSpinWait();
            }
        }

        private boolean append(Node node) {
            Node last = tail.get();
            Node next = last.next.get();
            if (next != null) {
                tail.compareAndSet(last, next);
                return false;
            }
            if (!last.next.compareAndSet(null, node)) {
                return false;
            }
            tail.compareAndSet(last, node);
            return true;
        }

        Integer take() {
            while (true) {
                Node first = head.get();
                Node next = first.next.get();
                if (next == null) {
                    return null;
                }
                if (head.compareAndSet(first, next)) {
                    return next.value;
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Queue queue = new Queue();
        Thread t1 = new Thread(() -> queue.put(1), "t1");
        Thread t2 = new Thread(() -> queue.put(2), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        int sum = 0;
        for (Integer value = queue.take(); value != null; value = queue.take()) {
            sum += value;
        }
        System.out.println("sum " + sum);
        if (sum != 3) {
            System.exit(1);
        }
    }
}
