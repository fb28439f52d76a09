/* silent
 * A lock-free stack whose nodes are put back and used again; each change of the top has a number. A pop may find the stack empty
 * between two pops and a push of the other thread.
 */
import java.util.concurrent.atomic.AtomicStampedReference;

public class NodeReuse {
    static final class Node {
        final int value;
        volatile Node next;

        Node(int value) {
            this.value = value;
        }
    }

    private final AtomicStampedReference<Node> top = new AtomicStampedReference<>(null, 0);

    void push(Node node) {
        int[] stamp = new int[1];
        Node old;
        do {
            old = top.get(stamp);
            node.next = old;
        } while (!top.compareAndSet(old, node, stamp[0], stamp[0] + 1));
    }

    Node pop() {
        int[] stamp = new int[1];
        Node node;
        do {
            node = top.get(stamp);
            if (node == null) return null;
        } while (!top.compareAndSet(node, node.next, stamp[0], stamp[0] + 1));
        return node;
    }

    public static void main(String[] args) throws InterruptedException {
        NodeReuse stack = new NodeReuse();
        stack.push(new Node(1));
        stack.push(new Node(2));
        Thread taker = new Thread(() -> {
            stack.pop();
            stack.pop();
        }, "taker");
        Thread user = new Thread(() -> {
            Node first = stack.pop();
            stack.pop();
            if (first != null) stack.push(first);
        }, "user");
        taker.start();
        user.start();
        taker.join();
        user.join();
    }
}
