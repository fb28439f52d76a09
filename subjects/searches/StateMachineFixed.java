/* fixed: StateMachine
 * The session is there before the state says so.
 */
public class StateMachineFixed {
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
                    session = "session";
                    state = OPEN;
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
        StateMachineFixed connection = new StateMachineFixed();
        Thread one = new Thread(() -> connection.send("a"), "one");
        Thread two = new Thread(() -> connection.send("b"), "two");
        one.start();
        two.start();
        one.join();
        two.join();
    }
}
