package shop;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** Orders taken so far, guarded by a lock of their own. */
public class Orders {
    /** One order. */
    public record Order(int number, String article, int count) {
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final List<Order> orders = new ArrayList<>();
    private int next = 1;

    public Order take(String article, int count) {
        lock.lock();
        try {
            Order order = new Order(next++, article, count);
            orders.add(order);
            return order;
        } finally {
            lock.unlock();
        }
    }

    public int total() {
        lock.lock();
        try {
            return orders.stream().mapToInt(Order::count).sum();
        } finally {
            lock.unlock();
        }
    }

    public int size() {
        lock.lock();
        try {
            return orders.size();
        } finally {
            lock.unlock();
        }
    }
}
