/* bug:
 *   rule data-race | atomicity | unserializable | atomic-set
 *   variable DatesShared.FORMAT
 *   evidence harmful
 *   outcome exit | exception | value
 * about: A date format looks like a constant, but it keeps the date that it is working on in a calendar of its own: two threads
 *   that format at the same time get each other's dates.
 */
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.TimeZone;

public class DatesShared {
    private static final long DAY = 86_400_000L;
    private static final SimpleDateFormat FORMAT = new SimpleDateFormat("yyyy-MM-dd");

    private static String first;
    private static String second;

    public static void main(String[] args) throws InterruptedException {
        FORMAT.setTimeZone(TimeZone.getTimeZone("UTC"));
        Thread t1 = new Thread(() -> first = FORMAT.format(new Date(0)), "t1");
        t1.start();
        Thread t2 = new Thread(() -> second = FORMAT.format(new Date(400 * DAY)), "t2");
        t2.start();
        t1.join();
        t2.join();
        System.out.println(first + " " + second);
        System.exit(first.equals("1970-01-01") && second.equals("1971-02-05") ? 0 : 1);
    }
}
