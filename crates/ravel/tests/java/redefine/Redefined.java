import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Threads that use a class while it is redefined and retransformed; the argument is the other version of it. */
public class Redefined {
    static volatile int wanted = 1;

    public static void main(String[] args) throws Exception {
        Gauge gauge = new Gauge();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Thread thread = new Thread(() -> {
                for (int version = 1; version <= 2; version++) {
                    while (gauge.version() != version || wanted < version) Thread.onSpinWait();
                }
            });
            thread.start();
            threads.add(thread);
        }
        System.out.println("version " + new Gauge().version());
        Redefiner.redefine(Gauge.class, Path.of(args[0]));
        System.out.println("retransformed " + Redefiner.retransform(Gauge.class));
        wanted = 2;
        for (Thread thread : threads) thread.join();
        System.out.println("version " + gauge.version());
        for (java.lang.reflect.Field field : Gauge.class.getDeclaredFields()) System.out.println(field.getName());
        System.out.println(gauge.reads > 0);
    }
}
