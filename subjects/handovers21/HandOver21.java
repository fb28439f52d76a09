/* silent
 * The ways of JDK 21 to hand work over and to get its result back, one a method. Whoever checks has waited for all who
 * filled: order proves it, so nothing may even be predicted.
 */
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;

public class HandOver21 {
    static class Box {
        int v;
    }

    static final Box[] b = {new Box(), new Box(), new Box(), new Box()};

    static void fill(int i) {
        b[i].v = i + 1;
    }

    static void check() {
        int sum = 0;
        for (Box box : b) sum += box.v;
        System.out.println(sum);
    }

    static Runnable task(int i) {
        return () -> fill(i);
    }

    static void threadPerTask() throws Exception {
        try (var p = Executors.newThreadPerTaskExecutor(Thread::new)) { for (int i = 0; i < 4; i++) p.submit(task(i)); }
        check();
    }

    static void virtualExecutor() throws Exception {
        try (var p = Executors.newVirtualThreadPerTaskExecutor()) { for (int i = 0; i < 4; i++) p.submit(task(i)); }
        check();
    }

    static void close() throws Exception {
        try (var p = Executors.newFixedThreadPool(2)) { for (int i = 0; i < 4; i++) p.submit(task(i)); }
        check();
    }

    static void forkJoinClose() throws Exception {
        try (var p = new ForkJoinPool(2)) { for (int i = 0; i < 4; i++) p.submit(task(i)); }
        check();
    }

    static void virtualJoin() throws Exception {
        var l = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) l.add(Thread.startVirtualThread(task(i)));
        for (var t : l) t.join();
        check();
    }

    static void virtualJoinTimed() throws Exception {
        var l = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) l.add(Thread.ofVirtual().name("v" + i).start(task(i)));
        for (var t : l) t.join(Duration.ofSeconds(9));
        check();
    }

    static void virtualAlive() throws Exception {
        var l = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) l.add(Thread.startVirtualThread(task(i)));
        for (var t : l) while (t.isAlive()) Thread.sleep(1);
        check();
    }

    public static void main(String[] args) throws Exception {
        HandOver21.class.getDeclaredMethod(args[0]).invoke(null);
    }
}
