package shop;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/** A van that takes parcels from a queue until it is told that there are no more. */
public class Deliveries implements Runnable {
    private static final String LAST = "";
    private final BlockingQueue<String> parcels = new ArrayBlockingQueue<>(4);
    private int delivered;

    public void send(String parcel) throws InterruptedException {
        parcels.put(parcel);
    }

    public void close() throws InterruptedException {
        parcels.put(LAST);
    }

    @Override
    public void run() {
        try {
            while (!parcels.take().equals(LAST)) {
                delivered++;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Right only after the van's thread has ended. */
    public int delivered() {
        return delivered;
    }
}
