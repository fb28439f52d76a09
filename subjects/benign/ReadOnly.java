/* silent
 * Built by main, read by everyone, written by nobody after the threads have started.
 */
import java.util.HashMap;
import java.util.Map;

public class ReadOnly {
    static class Dictionary {
        private Map<String, Integer> words = new HashMap<>();
        private int[] lengths = new int[3];
        private int size;

        void add(String word) {
            words.put(word, size);
            lengths[size++] = word.length();
        }

        int length(String word) {
            return lengths[words.get(word)];
        }

        int size() {
            return size;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Dictionary dictionary = new Dictionary();
        dictionary.add("one");
        dictionary.add("three");
        int[] sums = new int[2];
        Thread t1 = new Thread(() -> sums[0] = dictionary.length("one") + dictionary.size(), "t1");
        Thread t2 = new Thread(() -> sums[1] = dictionary.length("three") + dictionary.size(), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println(sums[0] + " " + sums[1]);
    }
}
