package libraries;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.greenrobot.eventbus.EventBus;
import org.greenrobot.eventbus.Subscribe;
import org.greenrobot.eventbus.ThreadMode;

/**
 * Purchases as events of a bus, handled by a pool. The bug: a customer's history is made when it is first needed, without a lock, so that
 * two handlers can make it twice and what one of them wrote is lost.
 */
public final class EventBusDriver {
    private static final int CUSTOMERS = 200;

    static class Customer {
        private AtomicLong history;

        AtomicLong history() {
            if (history == null) {
                history = new AtomicLong();
            }
            return history;
        }
    }

    /** Corrected: one handler at a time. */
    static final class CarefulCustomer extends Customer {
        @Override
        synchronized AtomicLong history() {
            return super.history();
        }
    }

    record Purchase(Customer customer, int amount) {
    }

    public static final class Handler {
        @Subscribe(threadMode = ThreadMode.ASYNC)
        public void bought(Purchase purchase) {
            purchase.customer().history().addAndGet(purchase.amount());
        }
    }

    public static void main(String[] args) throws Exception {
        boolean fixed = args.length > 0 && args[0].equals("fixed");
        ExecutorService pool = Executors.newFixedThreadPool(4);
        EventBus bus = EventBus.builder().executorService(pool).build();
        bus.register(new Handler());
        List<Customer> customers = new ArrayList<>();
        Random random = new Random();
        for (int i = 0; i < CUSTOMERS; i++) {
            Customer customer = fixed ? new CarefulCustomer() : new Customer();
            customers.add(customer);
            bus.post(new Purchase(customer, 1));
            Thread.sleep(random.nextInt(6));
            bus.post(new Purchase(customer, 1));
        }
        pool.shutdown();
        pool.awaitTermination(10, TimeUnit.SECONDS);
        long sum = customers.stream().mapToLong(customer -> customer.history().get()).sum();
        System.out.println("purchases " + sum + ", expected " + 2 * CUSTOMERS);
        System.exit(sum == 2 * CUSTOMERS ? 0 : 1);
    }
}
