/* finding: double-checked-locking
 * about: The field is not volatile, so a thread may see it before the fields of the object.
 */
public class Helper {
    private static Helper instance;

    private final int[] table = new int[256];

    public static Helper instance() {
        if (instance == null) {
            synchronized (Helper.class) {
                if (instance == null) {
                    instance = new Helper();
                }
            }
        }
        return instance;
    }

    public int size() {
        return table.length;
    }
}
