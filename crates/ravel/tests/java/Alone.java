import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Two lost updates. A run that finds another one going on ends before it comes to either. */
public class Alone {
    static final AtomicInteger few = new AtomicInteger();
    static final AtomicLong many = new AtomicLong();

    static void addFew() {
        few.set(few.get() + 1);
    }

    static void addMany() {
        many.set(many.get() + 1000);
    }

    static void together(Runnable work) throws InterruptedException {
        Thread[] threads = {new Thread(work), new Thread(work)};
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
    }

    public static void main(String[] args) throws Exception {
        try (FileChannel file = FileChannel.open(Path.of(args[0]), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            if (file.tryLock() == null) System.exit(0);
            Thread.sleep(400);
            together(Alone::addFew);
            together(Alone::addMany);
        }
        if (few.get() != 2 || many.get() != 2000) System.exit(1);
    }
}
