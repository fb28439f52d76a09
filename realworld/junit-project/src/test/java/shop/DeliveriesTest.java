package shop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class DeliveriesTest {
    @Test
    void deliversEveryParcel() throws InterruptedException {
        Deliveries deliveries = new Deliveries();
        Thread van = new Thread(deliveries, "van");
        van.start();
        for (int i = 0; i < 10; i++) {
            deliveries.send("parcel " + i);
        }
        deliveries.close();
        van.join();
        assertEquals(10, deliveries.delivered());
    }
}
