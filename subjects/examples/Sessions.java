/* finding: check-then-act
 * about: Two threads that both find no session replace each other's.
 */
import java.util.concurrent.ConcurrentHashMap;

public class Sessions {
    static class Session {
        final String user;

        Session(String user) {
            this.user = user;
        }
    }

    private final ConcurrentHashMap<String, Session> sessions = new ConcurrentHashMap<>();

    public Session open(String user) {
        if (!sessions.containsKey(user)) {
            sessions.put(user, new Session(user));
        }
        return sessions.get(user);
    }
}
