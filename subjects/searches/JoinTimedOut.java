/* failure:
 *   rule: failure
 *   outcome: exception
 *   place: JoinTimedOut.java:14
 * about: main waits 100 ms for the courier and closes the box if he has not come by then: he finds it closed. In the recorded run he comes in time.
 */
public class JoinTimedOut {
    static class Box {
        private boolean closed;
        private int letters;

        synchronized void put(int more) {
            if (closed) {
                throw new IllegalStateException("the box is closed");
            }
            letters += more;
        }

        synchronized void close() {
            closed = true;
        }

        synchronized int letters() {
            return letters;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        Thread courier = new Thread(() -> box.put(3), "courier");
        courier.start();
        courier.join(100);
        if (courier.isAlive()) {
            box.close();
        }
        courier.join();
        System.out.println("letters " + box.letters());
    }
}
