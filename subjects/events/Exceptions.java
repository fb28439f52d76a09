/* expect:
 *   thread main, t1
 *   write Log.steps >= 5 by t1
 *   enter Log.risky >= 1 by t1
 *   exit Log.risky >= 1 by t1
 * about: try, catch, finally and return in every order; exceptions through several frames; nothing is left entered
 */
public class Exceptions {
    static class Log {
        int steps;

        int risky(int kind) {
            try {
                steps++;
                switch (kind) {
                    case 0: return steps;
                    case 1: throw new IllegalStateException("one");
                    case 2: return deeper(3);
                    case 3: throw new Error("three");
                    default: return ((int[]) null)[kind];
                }
            } catch (IllegalStateException e) {
                steps += 10;
                return -1;
            } finally {
                steps += 100;
            }
        }

        int deeper(int levels) {
            if (levels == 0) {
                throw new IllegalArgumentException("deep");
            }
            return deeper(levels - 1);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Log log = new Log();
        Thread t1 = new Thread(() -> {
            for (int kind = 0; kind < 5; kind++) {
                try {
                    System.out.println(log.risky(kind));
                } catch (Error | RuntimeException e) {
                    System.out.println(e.getClass().getSimpleName());
                }
            }
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(log.steps);
    }
}
