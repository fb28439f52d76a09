/* failure:
 *   rule: failure
 *   outcome: exception
 *   place: AbaStack.java:36
 * about: a stack of nodes that are used again: between the read of the top and its exchange another thread takes two nodes and puts the first back.
 */
import java.util.concurrent.atomic.AtomicReference;

public class AbaStack {
    static final class Node {
        final int value;
        Node next;
        boolean used;

        Node(int value) {
            this.value = value;
        }
    }

    private final AtomicReference<Node> top = new AtomicReference<>();

    void push(Node node) {
        do {
            node.next = top.get();
        } while (!top.compareAndSet(node.next, node));
    }

    Node pop() {
        Node node;
        Node next;
        do {
            node = top.get();
            if (node == null) return null;
            next = node.next;
        } while (!top.compareAndSet(node, next));
        if (node.used) throw new IllegalStateException("node " + node.value + " is in use");
        return node;
    }

    public static void main(String[] args) throws InterruptedException {
        AbaStack stack = new AbaStack();
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
