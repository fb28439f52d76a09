/* failure:
 *   rule: failure
 *   outcome: exception
 *   place: StateMachine.java:29
 * about: the connection is marked open before it has its session: a thread that sees `OPEN` in between uses none. Only a thread that finds the state changed looks at the session.
 */
public class StateMachine {
    static final int CLOSED = 0;
    static final int OPENING = 1;
    static final int OPEN = 2;
    private volatile int state = CLOSED;
    private volatile String session;

    private void open() {
        if (state == CLOSED) {
            synchronized (this) {
                if (state == CLOSED) {
                    state = OPENING;
                    state = OPEN;
                    session = "session";
                }
            }
        }
    }

    void send(String message) {
        if (state != OPEN) {
            open();
        } else if (session.isEmpty()) {
            throw new IllegalStateException(message);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        StateMachine connection = new StateMachine();
        Thread one = new Thread(() -> connection.send("a"), "one");
        Thread two = new Thread(() -> connection.send("b"), "two");
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
