/* bug:
 *   rule data-race | atomicity
 *   variable Flight.sold
 *   evidence harmful
 *   outcome exit | value
 * about: Two counters sell seats: each looks whether one is left and then counts it as sold, with no lock. Two sales
 *   at once count as one, and with one seat left both sell it.
 */
public class AirlineTickets {
    static class Flight {
        private final int seats;
        private int sold;

        Flight(int seats) {
            this.seats = seats;
        }

        boolean sell() {
            if (sold < seats) {
                sold++;
                return true;
            }
            return false;
        }

        synchronized int sold() {
            return sold;
        }
    }

    static class Counter implements Runnable {
        private final Flight flight;
        int tickets;

        Counter(Flight flight) {
            this.flight = flight;
        }

        @Override
        public void run() {
            if (flight.sell()) {
                tickets++;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Flight flight = new Flight(3);
        flight.sell();
        Counter north = new Counter(flight);
        Counter south = new Counter(flight);
        runBoth(north, south);
        int tickets = 1 + north.tickets + south.tickets;
        System.out.println("tickets " + tickets + ", seats sold " + flight.sold());
        if (tickets != flight.sold()) {
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
