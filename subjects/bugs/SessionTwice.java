/* bug:
 *   rule atomicity | atomic-set
 *   variable Sessions.byUser
 *   evidence harmful
 *   outcome exit | output
 * about: containsKey, put and get: two threads find no session, and each gets the one that it has made. It takes a thread that is
 *   done before the other one goes on.
 */
import java.util.concurrent.ConcurrentHashMap;

public class SessionTwice {
    static class Session {
    }

    static class Sessions {
        private final ConcurrentHashMap<String, Session> byUser = new ConcurrentHashMap<>();

        Session of(String user) {
            if (!byUser.containsKey(user)) {
                byUser.put(user, new Session());
            }
            return byUser.get(user);
        }
    }

    static class Visit implements Runnable {
        private final Sessions sessions;
        Session session;

        Visit(Sessions sessions) {
            this.sessions = sessions;
        }

        @Override
        public void run() {
            session = sessions.of("ann");
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Sessions sessions = new Sessions();
        Visit one = new Visit(sessions);
        Visit two = new Visit(sessions);
        runBoth(one, two);
        System.out.println(one.session == two.session ? "one session" : "two sessions");
        if (one.session != two.session) {
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
