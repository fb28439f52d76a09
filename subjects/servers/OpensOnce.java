/* bug:
 *   rule atomicity
 *   variable OpensOnce.Till.money
 *   evidence harmful
 * about: The program makes a file that must not be there when it begins: run again in the same directory, it ends at once. Further runs must find
 *   the directory as the recorded one did.
 */
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;

public class OpensOnce {
    static class Till {
        private int money;

        synchronized int money() {
            return money;
        }

        synchronized void set(int value) {
            money = value;
        }

        void add(int amount) {
            int before = money();
            set(before + amount);
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        Path day = Path.of("day-is-open");
        try {
            Files.createFile(day);
        } catch (FileAlreadyExistsException open) {
            System.err.println("the day is open already");
            System.exit(3);
        }
        Till till = new Till();
        Thread one = new Thread(() -> till.add(1), "one");
        Thread two = new Thread(() -> till.add(2), "two");
        one.start();
        Thread.sleep(30);
        two.start();
        one.join();
        two.join();
        System.out.println("money " + till.money());
    }
}
