/* expect:
 *   thread main, t1
 *   read|write LinkedList.* >= 1 by t1
 *   read|write ArrayDeque.* >= 1 by t1
 *   read|write TreeMap.* >= 1 by t1
 *   read|write PriorityQueue.* >= 1 by t1
 * about: other unsynchronised collections, used by two threads one after the other
 */
import java.util.ArrayDeque;
import java.util.LinkedList;
import java.util.PriorityQueue;
import java.util.TreeMap;

public class SharedCollections {
    public static void main(String[] args) throws InterruptedException {
        LinkedList<Integer> list = new LinkedList<>();
        ArrayDeque<Integer> deque = new ArrayDeque<>();
        TreeMap<Integer, Integer> tree = new TreeMap<>();
        PriorityQueue<Integer> heap = new PriorityQueue<>();
        list.add(1);
        deque.add(1);
        tree.put(1, 1);
        heap.add(1);
        Thread t1 = new Thread(() -> {
            list.addFirst(2);
            deque.push(2);
            tree.put(2, 2);
            heap.add(0);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(list + " " + deque + " " + tree + " " + heap.peek());
    }
}
