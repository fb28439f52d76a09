/* finding: test-lock-assign
 * about: `values` is tested outside the lock and assigned under it without a second test.
 */
import java.util.Properties;

public class Config {
    private static volatile Properties values;

    public static Properties values() {
        if (values == null) {
            synchronized (Config.class) {
                values = new Properties();
            }
        }
        return values;
    }
}
