/* expect:
 *   thread main, t1
 *   read AtomicReference.value == 2 by t1
 *   write AtomicReference.value == 1 by t1
 *   update AtomicReference.value == 3 by t1
 *   update AtomicStampedReference.* == 1 by t1
 *   update AtomicMarkableReference.* == 1 by t1
 *   read Node.number == 1 by t1
 * about: references, with a stamp and with a mark; what was published through the reference is read
 */
import java.util.concurrent.atomic.AtomicMarkableReference;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicStampedReference;

public class AtomicReferences {
    static class Node {
        int number;
    }

    public static void main(String[] args) throws InterruptedException {
        Node node = new Node();
        node.number = 4;
        AtomicReference<Node> head = new AtomicReference<>(node);
        AtomicStampedReference<String> stamped = new AtomicStampedReference<>("a", 0);
        AtomicMarkableReference<String> marked = new AtomicMarkableReference<>("a", false);
        head.set(node);
        Thread t1 = new Thread(() -> {
            Node seen = head.get();
            int number = seen.number;
            Node next = new Node();
            boolean first = head.compareAndSet(seen, next);
            boolean second = head.compareAndSet(seen, next);
            head.set(seen);
            head.getAndSet(next);
            head.getAndUpdate(old -> null);
            System.out.println(number + " " + first + " " + second);
            boolean third = stamped.compareAndSet("a", "b", 0, 1);
            boolean fourth = marked.compareAndSet("a", "b", false, true);
            System.out.println(third + " " + fourth);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(head.get() + " " + stamped.getReference() + " " + marked.isMarked());
    }
}
