package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class OrdersTest {
    @Test
    void numbersAreDifferent() throws Exception {
        Orders orders = new Orders();
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Callable<Integer>> tasks = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            tasks.add(() -> orders.take("bolt", 1).number());
        }
        TreeSet<Integer> numbers = new TreeSet<>();
        for (Future<Integer> number : pool.invokeAll(tasks)) {
            numbers.add(number.get());
        }
        pool.shutdown();
        assertEquals(20, numbers.size());
        assertEquals(20, orders.total());
    }
}
