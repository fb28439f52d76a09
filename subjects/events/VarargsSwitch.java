/* expect:
 *   thread main, t1
 *   write Register.state == 1 by t1
 *   read Object[] >= 1 by t1
 *   read Register.state == 1 by main
 * about: varargs, dense, sparse and string switches, switch expressions, labelled loops, try with resources, long and
 *   double locals
 */
public class VarargsSwitch {
    static class Register {
        long state;
    }

    static class Closing implements AutoCloseable {
        final StringBuilder log;

        Closing(StringBuilder log) {
            this.log = log;
        }

        @Override
        public void close() {
            log.append("closed ");
        }
    }

    static int sum(Object... parts) {
        int sum = 0;
        for (Object part : parts) {
            sum += part instanceof Integer number ? number : part.toString().length();
        }
        return sum;
    }

    static String dense(int i) {
        switch (i) {
            case 0: return "zero";
            case 1: return "one";
            case 2:
            case 3: return "few";
            default: return "many";
        }
    }

    static int sparse(int i) {
        return switch (i) {
            case -1000 -> 1;
            case 7 -> 2;
            case Integer.MAX_VALUE -> 3;
            default -> {
                int x = i;
                yield x * 2;
            }
        };
    }

    static int strings(String s) {
        return switch (s) {
            case "Aa" -> 1;
            case "BB" -> 2;
            default -> 0;
        };
    }

    static long loops(double step) {
        long total = 0;
        outer:
        for (long i = 0; i < 10; i++) {
            for (double d = 0; d < 5; d += step) {
                if (d > i) {
                    continue outer;
                }
                if (i == 8) {
                    break outer;
                }
                total += i;
            }
        }
        return total;
    }

    public static void main(String[] args) throws InterruptedException {
        Register register = new Register();
        Object[] parts = {1, "two", 3L};
        sum(parts);
        Thread t1 = new Thread(() -> {
            int sum = sum(parts) + sum() + sum("abc");
            register.state = sum;
        }, "t1");
        t1.start();
        t1.join();
        StringBuilder log = new StringBuilder();
        try (Closing first = new Closing(log); Closing second = new Closing(log)) {
            log.append("body ");
        } finally {
            log.append("finally");
        }
        System.out.println(register.state + dense(1) + dense(3) + dense(9) + sparse(7) + sparse(5) + strings("Aa")
                + strings("BB") + loops(0.75) + " " + log);
    }
}
