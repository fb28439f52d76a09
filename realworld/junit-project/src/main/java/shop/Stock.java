package shop;

import java.util.HashMap;
import java.util.Map;

/** How many pieces of each article there are. Every method is synchronized. */
public class Stock {
    private final Map<String, Integer> pieces = new HashMap<>();

    public synchronized void add(String article, int count) {
        pieces.merge(article, count, Integer::sum);
    }

    public synchronized int count(String article) {
        return pieces.getOrDefault(article, 0);
    }

    public synchronized void remove(String article, int count) {
        int left = count(article) - count;
        if (left < 0) {
            throw new IllegalStateException("too few of " + article);
        }
        pieces.put(article, left);
    }
}
