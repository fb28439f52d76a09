import java.util.concurrent.atomic.AtomicInteger;

/** A lost update, after which the program does nothing for a minute; it ignores interrupts and requests to end. */
public class Lingers {
    static final AtomicInteger value = new AtomicInteger();

    static void add() {
        int seen = value.get();
        value.set(seen + 1);
    }

    public static void main(String[] args) throws InterruptedException {
        Thread t1 = new Thread(Lingers::add, "t1");
        Thread t2 = new Thread(Lingers::add, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println("value " + value.get());
        Thread.sleep(60_000);
    }
}
