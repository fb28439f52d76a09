/* failure:
 *   rule: failure
 *   outcome: exit
 *   place: PartialReport.java:46
 * about: a report reads the rows while they are loaded: a thread that finds the load begun takes what is there. The program checks its own result and ends with 3.
 */
public class PartialReport {
    static final int EMPTY = 0;
    static final int LOADING = 1;
    static final int READY = 2;
    private volatile int state = EMPTY;
    private volatile int rows;
    private volatile int reported;

    void load() {
        state = LOADING;
        rows = 1;
        rows = 2;
        state = READY;
    }

    void report() {
        if (state == LOADING) {
            int seen = rows;
            if (state == LOADING) reported = seen;
        } else if (state == READY) {
            reported = 2;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        PartialReport report = new PartialReport();
        Thread loads = new Thread(report::load, "loads");
        Thread reports = new Thread(report::report, "reports");
        loads.start();
        reports.start();
        loads.join();
        reports.join();
        check(report.reported);
    }

    private static void check(int reported) {
        // Nothing at all, or all of it.
        if (reported == 1) {
            System.err.println("half a report");
            System.exit(3);
        }
    }
}
