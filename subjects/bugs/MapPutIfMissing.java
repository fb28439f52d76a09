/* bug:
 *   rule atomicity | atomic-set
 *   variable Owners.byName
 *   evidence harmful
 *   outcome exit | value
 * about: containsKey and then put: a thread finds the name free, another registers in between and is told that the
 *   name is its own, and the first replaces it.
 */
import java.util.concurrent.ConcurrentHashMap;

public class MapPutIfMissing {
    static class Owners {
        private final ConcurrentHashMap<String, Integer> byName = new ConcurrentHashMap<>();

        boolean register(String name, int owner) {
            if (!byName.containsKey(name)) {
                byName.put(name, owner);
                return true;
            }
            return false;
        }

        void unregister(String name) {
            byName.remove(name);
        }

        int owner(String name) {
            return byName.get(name);
        }
    }

    static class Successor implements Runnable {
        private final Owners owners;
        boolean registered;

        Successor(Owners owners) {
            this.owners = owners;
        }

        @Override
        public void run() {
            owners.unregister("door");
            registered = owners.register("door", 2);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Owners owners = new Owners();
        Successor successor = new Successor(owners);
        runBoth(() -> owners.register("door", 1), successor);
        int owner = owners.owner("door");
        System.out.println("owner " + owner);
        if (successor.registered && owner != 2) {
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
