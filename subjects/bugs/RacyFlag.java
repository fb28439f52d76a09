/* bug:
 *   rule atomicity | atomic-set
 *   variable Service.state
 *   evidence harmful
 *   outcome exit | value
 * about: A volatile state is read and then set: volatile makes each access visible, not the two together one step, so
 *   two switches count as one.
 */
public class RacyFlag {
    static class Service {
        private volatile int state;

        void next() {
            int now = state;
            state = now + 1;
        }

        int state() {
            return state;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Service service = new Service();
        runBoth(service::next, service::next);
        System.out.println("state " + service.state());
        if (service.state() != 2) {
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
