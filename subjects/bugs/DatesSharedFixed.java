/* fixed: DatesShared */
import java.text.SimpleDateFormat;
import java.util.Date;
import java.util.TimeZone;

public class DatesSharedFixed {
    private static final long DAY = 86_400_000L;
    private static final SimpleDateFormat FORMAT = new SimpleDateFormat("yyyy-MM-dd");

    private static String first;
    private static String second;

    private static String format(long time) {
        synchronized (FORMAT) {
            return FORMAT.format(new Date(time));
        }
    }

    public static void main(String[] args) throws InterruptedException {
        FORMAT.setTimeZone(TimeZone.getTimeZone("UTC"));
        Thread t1 = new Thread(() -> first = format(0), "t1");
        t1.start();
        Thread t2 = new Thread(() -> second = format(400 * DAY), "t2");
        t2.start();
        t1.join();
        t2.join();
        System.out.println(first + " " + second);
        System.exit(first.equals("1970-01-01") && second.equals("1971-02-05") ? 0 : 1);
    }
}
