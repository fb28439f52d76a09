/* fault:
 *   exit 3
 *   output exact
 * about: System.exit by another thread than main, inside a synchronized method, while main waits for it to end
 */
public class ExitInAThread {
    static class Door {
        private int steps;

        synchronized void leave() {
            steps++;
            System.out.println("leaving");
            System.exit(3);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Door door = new Door();
        synchronized (door) {
            door.steps = 1;
        }
        Thread t1 = new Thread(door::leave, "t1");
        t1.start();
        t1.join();
        System.out.println("never reached");
    }
}
