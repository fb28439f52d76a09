/* expect:
 *   thread main, t1, t2
 *   write Statics.count == 1 by t2
 *   read Statics.count == 1 by t2
 *   write Statics.total == 1 by t2
 *   write Statics.label == 1 by t2
 *   write Statics.ratio == 1 by t2
 *   read Statics.label == 1 by main
 *   read Statics.total == 1 by main
 *   read Statics.LIMIT == 0
 *   fork t1 == 1 by main
 *   fork t2 == 1 by main
 *   join t1 == 1 by main
 *   join t2 == 1 by main
 * about: static fields; t1 first, then t2, then main
 */
public class Statics {
    static int count;
    static long total;
    static double ratio;
    static String label = "none";
    static final int LIMIT = Integer.parseInt("10");

    static void step(String by) {
        count++;
        total = 5_000_000_000L;
        ratio = 2.5;
        label = by;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread t1 = new Thread(() -> step("first"), "t1");
        t1.start();
        t1.join();
        Thread t2 = new Thread(() -> step("second"), "t2");
        t2.start();
        t2.join();
        System.out.println(count + " " + total + " " + ratio + " " + label + " " + LIMIT);
    }
}
