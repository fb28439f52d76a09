package shop;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;

/** Remembers prices that are slow to find out; each is found out once. */
public class PriceCache {
    private final ConcurrentHashMap<String, Integer> prices = new ConcurrentHashMap<>();
    private final AtomicInteger misses = new AtomicInteger();
    private final ToIntFunction<String> source;

    public PriceCache(ToIntFunction<String> source) {
        this.source = source;
    }

    public int price(String article) {
        return prices.computeIfAbsent(article, key -> {
            misses.incrementAndGet();
            return source.applyAsInt(key);
        });
    }

    public int misses() {
        return misses.get();
    }
}
