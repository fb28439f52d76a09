/* fixed: JoinTimedOut
 * about: the courier takes his letters back where the box is closed.
 */
public class JoinTimedOutFixed {
    static class Box {
        private boolean closed;
        private int letters;

        synchronized boolean put(int more) {
            if (closed) {
                return false;
            }
            letters += more;
            return true;
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
        box.letters();
    }
}
