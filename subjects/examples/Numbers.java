/* finding: two-guards
 * about: A static method guards the counter by the class, an instance method by its object.
 */
public class Numbers {
    private static int next;

    public static synchronized int take() {
        return next++;
    }

    public synchronized void reset() {
        next = 0;
    }
}
