/* fixed: QueuedTwice */
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

public class QueuedTwiceFixed {
    static class Order {
        int amount;

        Order(int amount) {
            this.amount = amount;
        }
    }

    static class Desk {
        private final BlockingQueue<Order> orders = new ArrayBlockingQueue<>(4);

        void send() {
            Order order = new Order(1);
            orders.add(order);
            order = new Order(2);
            orders.add(order);
        }

        int receive() throws InterruptedException {
            int first = orders.take().amount;
            int second = orders.take().amount;
            return 10 * first + second;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Desk desk = new Desk();
        int[] seen = new int[1];
        Thread sender = new Thread(() -> desk.send(), "sender");
        Thread receiver = new Thread(() -> {
            try {
                seen[0] = desk.receive();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, "receiver");
        sender.start();
        nap(100);
        receiver.start();
        sender.join();
        receiver.join();
        System.out.println("seen " + seen[0]);
        if (seen[0] != 12) {
            System.exit(1);
        }
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
