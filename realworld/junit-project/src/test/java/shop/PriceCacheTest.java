package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class PriceCacheTest {
    @Test
    void findsEachPriceOnce() throws InterruptedException {
        PriceCache cache = new PriceCache(String::length);
        CountDownLatch go = new CountDownLatch(1);
        int[] prices = new int[4];
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                try {
                    go.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                prices[number] = cache.price("spanner");
            }, "customer-" + i);
            threads[i].start();
        }
        go.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(28, prices[0] + prices[1] + prices[2] + prices[3]);
        assertEquals(1, cache.misses());
    }
}
