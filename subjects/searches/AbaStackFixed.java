/* fixed: AbaStack
 * Each change of the top has a number, and what lies below a node is volatile, since a node that is read may be put back meanwhile.
 */
import java.util.concurrent.atomic.AtomicStampedReference;

public class AbaStackFixed {
    static final class Node {
        final int value;
        volatile Node next;
        boolean used;

        Node(int value) {
            this.value = value;
        }
    }

    private final AtomicStampedReference<Node> top = new AtomicStampedReference<>(null, 0);

    void push(Node node) {
        int[] stamp = new int[1];
        do {
            node.next = top.get(stamp);
        } while (!top.compareAndSet(node.next, node, stamp[0], stamp[0] + 1));
    }

    Node pop() {
        Node node;
        Node next;
        int[] stamp = new int[1];
        do {
            node = top.get(stamp);
            if (node == null) return null;
            next = node.next;
        } while (!top.compareAndSet(node, next, stamp[0], stamp[0] + 1));
        if (node.used) throw new IllegalStateException("node " + node.value + " is in use");
        return node;
    }

    public static void main(String[] args) throws InterruptedException {
        AbaStackFixed stack = new AbaStackFixed();
        stack.push(new Node(1));
        stack.push(new Node(2));
        Thread one = new Thread(() -> {
            stack.pop();
            stack.pop();
        }, "one");
        Thread two = new Thread(() -> {
            Node first = stack.pop();
            Node second = stack.pop();
            if (second != null) second.used = true;
            if (first != null) stack.push(first);
        }, "two");
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
