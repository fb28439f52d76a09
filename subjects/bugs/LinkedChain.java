/* bug:
 *   rule data-race | atomicity | atomic-set
 *   variable Chain.last | Chain.size | Node.next
 *   evidence harmful
 *   outcome exit | value
 * about: Adding to a linked list reads its last node, hangs a new one behind it and makes that the last, without a
 *   lock: of two nodes added at once one is lost.
 */
public class LinkedChain {
    static class Node {
        final int value;
        Node next;

        Node(int value) {
            this.value = value;
        }
    }

    static class Chain {
        private final Node first = new Node(0);
        private Node last = first;
        private int size;

        void add(int value) {
            Node added = new Node(value);
            last.next = added;
            last = added;
            size++;
        }

        synchronized int length() {
            int length = 0;
            for (Node node = first.next; node != null; node = node.next) {
                length++;
            }
            return length;
        }

        synchronized int size() {
            return size;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Chain chain = new Chain();
        runBoth(() -> chain.add(1), () -> chain.add(2));
        System.out.println("length " + chain.length() + ", size " + chain.size());
        if (chain.length() != 2 || chain.size() != 2) {
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
