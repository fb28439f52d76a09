import java.util.Collections;
import java.util.HashMap;
import java.util.Map;

/** A synchronised map that is asked and then changed, in two calls. */
public class SessionCache {
    private final Map<String, Object> sessions = Collections.synchronizedMap(new HashMap<>());

    Object find(String user) {
        Object session = sessions.get(user);
        if (session == null) {
            session = new Object();
            sessions.put(user, session);
        }
        return session;
    }

    public static void main(String[] args) throws InterruptedException {
        SessionCache cache = new SessionCache();
        Object[] found = new Object[2];
        Thread t1 = new Thread(() -> found[0] = cache.find("ann"), "t1");
        Thread t2 = new Thread(() -> found[1] = cache.find("ann"), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        if (found[0] != found[1]) {
            throw new AssertionError("two sessions of one user");
        }
    }
}
