package shop;

/** The last tickets of a show. Every method is synchronized, so the office's threads may share it. */
class Tickets {
    private int left;

    Tickets(int left) {
        this.left = left;
    }

    synchronized int left() {
        return left;
    }

    synchronized void take(int count) {
        if (count > left) {
            throw new IllegalStateException("sold " + count + " tickets, " + left + " left");
        }
        left -= count;
    }
}

/** Two customers buy at the same time. Asking how many are left and taking them are one step each, buying is two. */
public class Shop {
    private final Tickets tickets;

    Shop(Tickets tickets) {
        this.tickets = tickets;
    }

    int buyUpTo(int wanted) {
        int count = Math.min(wanted, tickets.left());
        tickets.take(count);
        return count;
    }

    public static void main(String[] args) throws InterruptedException {
        Tickets tickets = new Tickets(5);
        Shop shop = new Shop(tickets);
        Thread alice = new Thread(() -> shop.buyUpTo(3), "alice");
        Thread bob = new Thread(() -> {
            pause(300);
            shop.buyUpTo(4);
        }, "bob");
        alice.start();
        bob.start();
        alice.join();
        bob.join();
        System.out.println("tickets left: " + tickets.left());
    }

    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
