/* finding: wait-outside-loop
 * about: `take` does not test again after the wait.
 */
public class Mailbox {
    private String letter;

    public synchronized void put(String text) {
        letter = text;
        notifyAll();
    }

    public synchronized String take() throws InterruptedException {
        if (letter == null) {
            wait();
        }
        String text = letter;
        letter = null;
        return text;
    }
}
