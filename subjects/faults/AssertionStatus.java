/* fault:
 *   exit 0
 *   jvm -ea
 *   output exact
 * about: assertions are on, and stay on; the field that the compiler adds for them is not disturbed
 */
public class AssertionStatus {
    static int checked;

    static boolean check(int value) {
        checked++;
        return value < 10;
    }

    public static void main(String[] args) throws InterruptedException {
        System.out.println(AssertionStatus.class.desiredAssertionStatus());
        Thread t1 = new Thread(() -> {
            try {
                assert check(5) : "five";
                assert check(50) : "fifty";
                System.out.println("assertions are off");
            } catch (AssertionError e) {
                System.out.println(e.getMessage());
            }
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(checked);
    }
}
