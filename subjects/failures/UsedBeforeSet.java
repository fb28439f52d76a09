/* failure:
 *   rule failure
 *   outcome exception
 *   place UsedBeforeSet.java:19
 * about: every access is locked, but if the user comes before the maker it dereferences null; recorded is the other order
 */
public class UsedBeforeSet {
    private StringBuilder text;

    synchronized void make() {
        text = new StringBuilder("made");
    }

    synchronized StringBuilder get() {
        return text;
    }

    void use() {
        System.out.println(get().length());
    }

    public static void main(String[] args) throws InterruptedException {
        UsedBeforeSet shared = new UsedBeforeSet();
        Thread maker = new Thread(shared::make, "maker");
        Thread user = new Thread(shared::use, "user");
        maker.start();
        Thread.sleep(100);
        user.start();
        maker.join();
        user.join();
    }
}
