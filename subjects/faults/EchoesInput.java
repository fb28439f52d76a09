/* fault:
 *   exit 0
 *   output exact
 * about: copies standard input to standard output line by line through two threads, and says how many lines there
 *   were
 */
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.concurrent.LinkedBlockingQueue;

public class EchoesInput {
    public static void main(String[] args) throws IOException, InterruptedException {
        LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
        int[] count = new int[1];
        Thread printer = new Thread(() -> {
            try {
                for (String line = lines.take(); !line.isEmpty(); line = lines.take()) {
                    System.out.println(line);
                    count[0]++;
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, "printer");
        printer.start();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            lines.add("> " + line);
        }
        lines.add("");
        printer.join();
        System.out.println(count[0] + " lines");
    }
}
