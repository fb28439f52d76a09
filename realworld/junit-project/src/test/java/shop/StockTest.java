package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class StockTest {
    @Test
    void addsFromTwoThreads() throws InterruptedException {
        Stock stock = new Stock();
        Thread first = new Thread(() -> stock.add("nut", 3), "first");
        Thread second = new Thread(() -> stock.add("nut", 4), "second");
        first.start();
        second.start();
        first.join();
        second.join();
        assertEquals(7, stock.count("nut"));
    }

    @Test
    void refusesToGoBelowZero() {
        Stock stock = new Stock();
        stock.add("nut", 1);
        assertThrows(IllegalStateException.class, () -> stock.remove("nut", 2));
        assertEquals(1, stock.count("nut"));
    }
}
