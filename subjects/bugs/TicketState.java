/* bug:
 *   rule atomicity | atomic-set
 *   variable Ticket.state | Ticket.sold
 *   evidence harmful
 *   outcome exit | value
 * about: A desk asks a ticket for its state, an enum, and sells it. The second desk finds it sold in an ordinary run; if both ask
 *   first, it is sold twice.
 */
public class TicketState {
    enum State { FREE, SOLD }

    static class Ticket {
        private State state = State.FREE;
        private int sold;

        synchronized State state() {
            return state;
        }

        synchronized void sell() {
            state = State.SOLD;
            sold++;
        }

        synchronized void sellOnce() {
            if (state == State.FREE) {
                sell();
            }
        }

        synchronized int sold() {
            return sold;
        }
    }

    static class Desk {
        void serve(Ticket ticket) {
            if (ticket.state() == State.FREE) {
                ticket.sell();
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Ticket ticket = new Ticket();
        runBoth(() -> new Desk().serve(ticket), () -> new Desk().serve(ticket));
        System.out.println("sold " + ticket.sold());
        if (ticket.sold() != 1) {
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
