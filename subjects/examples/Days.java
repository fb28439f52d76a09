/* finding: shared-format
 * about: All threads share one SimpleDateFormat.
 */
import java.text.SimpleDateFormat;
import java.util.Date;

public class Days {
    private static final SimpleDateFormat DAY = new SimpleDateFormat("yyyy-MM-dd");

    public static String text(Date date) {
        return DAY.format(date);
    }
}
