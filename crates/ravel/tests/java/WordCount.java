import java.util.HashMap;
import java.util.Map;

/** Counts in a map without a lock: another map alone does not make the two calls one step. */
public class WordCount {
    private final Map<String, Integer> counts = new HashMap<>();

    void add(String word) {
        Integer before = counts.get(word);
        counts.put(word, before == null ? 1 : before + 1);
    }

    public static void main(String[] args) throws InterruptedException {
        WordCount words = new WordCount();
        words.add("and");
        Thread t1 = new Thread(() -> words.add("and"), "t1");
        Thread t2 = new Thread(() -> words.add("and"), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println("and: " + words.counts.get("and"));
    }
}
