/* expect:
 *   thread main, t1
 *   initialized Broken == 0
 *   end == 1 by t1
 * about: an initialiser that throws; both threads see the error, each its own
 */
public class FailedInitialisation {
    static class Broken {
        static int value = Integer.parseInt("x");
    }

    public static void main(String[] args) throws InterruptedException {
        Thread t1 = new Thread(FailedInitialisation::touch, "t1");
        t1.start();
        t1.join();
        touch();
    }

    static void touch() {
        try {
            System.out.println(Broken.value);
        } catch (ExceptionInInitializerError e) {
            System.out.println("initialiser: " + e.getCause().getMessage());
        } catch (NoClassDefFoundError e) {
            System.out.println("no class: " + e.getMessage());
        }
    }
}
