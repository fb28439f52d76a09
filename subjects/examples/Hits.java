/* finding: compound-volatile
 * about: Two threads that both increment a volatile counter lose one increment.
 */
public class Hits {
    private static volatile int total;

    public static void hit() {
        total++;
    }

    public static int total() {
        return total;
    }
}
