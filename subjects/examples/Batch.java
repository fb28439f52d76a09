/* finding: reassigned-lock
 * about: `flush` replaces the list whose lock guards it.
 */
import java.util.ArrayList;
import java.util.List;

public class Batch {
    private List<String> lines = new ArrayList<>();

    public void add(String line) {
        synchronized (lines) {
            lines.add(line);
        }
    }

    public List<String> flush() {
        synchronized (lines) {
            List<String> full = lines;
            lines = new ArrayList<>();
            return full;
        }
    }
}
