/* fixed: PartialReport
 * The load happens under a lock, so a report sees nothing or all of it.
 */
public class PartialReportFixed {
    static final int EMPTY = 0;
    static final int LOADING = 1;
    static final int READY = 2;
    private int state = EMPTY;
    private int rows;
    private int reported;

    synchronized void load() {
        state = LOADING;
        rows = 1;
        rows = 2;
        state = READY;
    }

    synchronized void report() {
        if (state == LOADING) reported = rows;
        if (state == READY) reported = 2;
    }

    public static void main(String[] args) throws InterruptedException {
        PartialReportFixed report = new PartialReportFixed();
        Thread loads = new Thread(report::load, "loads");
        Thread reports = new Thread(report::report, "reports");
        loads.start();
        reports.start();
        loads.join();
        reports.join();
        check(report.reported);
    }

    private static void check(int reported) {
        if (reported == 1) {
            System.err.println("half a report");
            System.exit(3);
        }
    }
}
