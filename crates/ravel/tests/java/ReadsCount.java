import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.concurrent.atomic.AtomicInteger;

/** A lost update that only happens if the first line of standard input says how much to add, and then reads all the rest. */
public class ReadsCount {
    static final AtomicInteger value = new AtomicInteger();

    static void add(int amount) {
        int seen = value.get();
        value.set(seen + amount);
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        int amount = Integer.parseInt(in.readLine());
        Thread t1 = new Thread(() -> add(amount), "t1");
        Thread t2 = new Thread(() -> add(amount), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println("value " + value.get());
        if (args.length == 0) {
            while (in.readLine() != null) {
                System.out.println("another line");
            }
        }
    }
}
