/* silent
 * Workers add a page to a list that protects itself, count it, and print how far all of them have come: what a line tells of the others is of
 * one moment, and nothing acts on it.
 */
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class ProgressLines {
    private final List<String> seen = Collections.synchronizedList(new ArrayList<>());
    private int done;

    synchronized int done() {
        return done;
    }

    synchronized void finished() {
        done++;
    }

    void visit(String url) {
        seen.add(url);
        finished();
        progress();
    }

    void progress() {
        int finished = done();
        int pages = seen.size();
        System.out.println("progress: " + finished + " of " + pages + " (" + done() + ")");
    }

    public static void main(String[] args) throws Exception {
        ProgressLines crawl = new ProgressLines();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<?>> results = new ArrayList<>();
        for (String url : new String[] {"/a", "/b"}) {
            results.add(pool.submit(() -> crawl.visit(url)));
        }
        for (Future<?> result : results) {
            result.get();
        }
        pool.shutdown();
        System.out.println(crawl.done() + " pages");
    }
}
