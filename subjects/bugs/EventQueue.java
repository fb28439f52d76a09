/* bug:
 *   rule atomicity | atomic-set | unserializable
 *   variable EventManager.events
 *   evidence harmful
 *   outcome exit | value | exception
 * about: A worker looks whether the queue of events is empty, takes the first event and removes it: three
 *   synchronized calls. Another worker in between gets the same event, and an event that nobody has seen is
 *   removed.
 */
import java.util.Vector;

public class EventQueue {
    static class EventManager {
        private final Vector<String> events = new Vector<>();

        void add(String event) {
            events.add(event);
        }

        String next() {
            if (events.isEmpty()) {
                return null;
            }
            String event = events.elementAt(0);
            events.removeElementAt(0);
            return event;
        }
    }

    static class Worker implements Runnable {
        private final EventManager manager;
        String event;

        Worker(EventManager manager) {
            this.manager = manager;
        }

        @Override
        public void run() {
            event = manager.next();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        EventManager manager = new EventManager();
        manager.add("click");
        manager.add("key");
        Worker first = new Worker(manager);
        Worker second = new Worker(manager);
        runBoth(first, second);
        boolean both = first.event != null && second.event != null && !first.event.equals(second.event);
        System.out.println(both ? "each event once" : "an event twice");
        if (!both) {
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
