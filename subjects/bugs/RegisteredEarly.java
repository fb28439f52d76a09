/* bug:
 *   rule data-race
 *   variable Session.user | Session.visits
 *   evidence confirmed
 * about: login registers a session in a concurrent map and fills it afterwards, in a program of several hundred thousand events. What the map orders is
 *   what came before the call; the thread that finds the session reads its fields without any order.
 */
import java.util.concurrent.ConcurrentHashMap;

public class RegisteredEarly {
    static class Session {
        private String user;
        private int visits;
    }

    static class Work {
        private int done;

        synchronized void step() {
            done++;
        }
    }

    private static final ConcurrentHashMap<String, Session> SESSIONS = new ConcurrentHashMap<>();

    static void login(String name) {
        Session session = new Session();
        SESSIONS.put(name, session);
        session.user = "user " + name;
        session.visits = 1;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Work work = new Work();
        Thread reader = new Thread(() -> {
            for (int i = 0; i < 60_000; i++) work.step();
            Session session;
            while ((session = SESSIONS.get("bob")) == null) Thread.yield();
            pause(100);
            System.out.println(session.user + " " + session.visits);
        }, "reader");
        reader.start();
        for (int i = 0; i < 60_000; i++) work.step();
        login("bob");
        reader.join();
    }

    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
