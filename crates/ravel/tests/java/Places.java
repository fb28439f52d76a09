import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Shared collections, used through methods of the program, through lambdas that the JDK calls, and after a class initialiser. */
public class Places {
    static class Registry {
        private final Map<String, Integer> m = new HashMap<>();
        int calls;

        int get(String key) {
            if (!m.containsKey(key)) {
                m.put(key, 1); // put
            }
            return m.get(key);
        }

        String all() {
            return "all of " + m; // concat
        }
    }

    static class Lines {
        private final List<String> lines = new ArrayList<>();
        private final List<String> from = new ArrayList<>(List.of("a", "b"));

        void each() {
            from.forEach(line -> { // each
                Integer length = line.length();
                lines.add(length.toString() + line); // add
            });
            lines.remove(0); // remove
        }
    }

    static class Late {
        static int ready = setUp();
        int count;

        Late() {
            count = shared.calls++; // late
        }

        static int setUp() {
            List<String> some = new ArrayList<>();
            some.add("x");
            return some.size();
        }
    }

    static final Registry shared = new Registry();

    static int make() {
        return new Late().count; // make
    }

    public static void main(String[] args) throws InterruptedException {
        Lines lines = new Lines();
        Runnable work = () -> {
            shared.get(Thread.currentThread().getName());
            lines.each();
            shared.all();
            make();
        };
        Thread first = new Thread(work, "t1");
        Thread second = new Thread(() -> {
            pause();
            work.run();
        }, "t2");
        first.start();
        second.start();
        first.join();
        second.join();
    }

    static void pause() {
        try {
            Thread.sleep(200);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
