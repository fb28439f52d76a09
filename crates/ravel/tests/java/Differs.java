import java.io.File;

/** Its first run, which creates a file, takes another path than all later ones. */
public class Differs {
    static int shared;
    static int steps;
    static int other;

    public static void main(String[] args) throws Exception {
        boolean first = new File(args[1]).createNewFile();
        boolean skips = args[0].equals("skips");
        Thread t1 = new Thread(() -> work(first, skips), "t1");
        Thread t2 = new Thread(() -> work(true, false), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println("shared " + shared);
    }

    static void work(boolean first, boolean skips) {
        if (first && Thread.currentThread().getName().equals("t1")) {
            for (int i = 0; i < 5; i++) {
                steps++;
            }
        }
        if (skips && !first) {
            other++;
        } else {
            add();
        }
    }

    static void add() {
        int seen = shared;
        shared = seen + 1;
    }
}
