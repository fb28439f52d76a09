/* fixed: RegisteredEarly */
import java.util.concurrent.ConcurrentHashMap;

public class RegisteredEarlyFixed {
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
        session.user = "user " + name;
        session.visits = 1;
        SESSIONS.put(name, session);
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
