package libraries;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.Props;

/**
 * Orders that expire: each has a timer of the actor system, whose callback tells an actor. The bug: the callback uses the field that
 * keeps the timer, and it may run before the field has been set.
 */
public final class PekkoDriver {
    private static final int SHOPS = 3;
    private static final int ORDERS = 25;

    static class Order {
        Cancellable timer;

        void open(ActorSystem system, ActorRef clerk) {
            timer = system.scheduler().scheduleOnce(Duration.ofMillis(5), () -> expire(clerk), system.dispatcher());
        }

        void expire(ActorRef clerk) {
            clerk.tell(timer.isCancelled() ? "paid" : "expired", ActorRef.noSender());
        }
    }

    /** Corrected: the callback waits until the order is open. */
    static final class CarefulOrder extends Order {
        @Override
        synchronized void open(ActorSystem system, ActorRef clerk) {
            super.open(system, clerk);
        }

        @Override
        synchronized void expire(ActorRef clerk) {
            super.expire(clerk);
        }
    }

    static final class Clerk extends AbstractActor {
        private final CountDownLatch open;
        private int expired;

        Clerk(CountDownLatch open) {
            this.open = open;
        }

        @Override
        public Receive createReceive() {
            return receiveBuilder().match(String.class, words -> {
                expired++;
                open.countDown();
            }).build();
        }
    }

    public static void main(String[] args) throws Exception {
        boolean fixed = args.length > 0 && args[0].equals("fixed");
        ActorSystem system = ActorSystem.create("market");
        CountDownLatch open = new CountDownLatch(SHOPS * ORDERS);
        ActorRef clerk = system.actorOf(Props.create(Clerk.class, () -> new Clerk(open)), "clerk");
        List<Thread> shops = new ArrayList<>();
        for (int i = 0; i < SHOPS; i++) {
            Thread shop = new Thread(() -> sell(system, clerk, fixed), "shop-" + i);
            shops.add(shop);
            shop.start();
        }
        for (Thread shop : shops) {
            shop.join();
        }
        boolean all = open.await(2, TimeUnit.SECONDS);
        System.out.println(all ? "all orders have expired" : open.getCount() + " orders never expired");
        system.terminate();
        system.getWhenTerminated().toCompletableFuture().get(5, TimeUnit.SECONDS);
        System.exit(all ? 0 : 1);
    }

    private static void sell(ActorSystem system, ActorRef clerk, boolean fixed) {
        Random random = new Random();
        for (int i = 0; i < ORDERS; i++) {
            Order order = fixed ? new CarefulOrder() : new Order();
            order.open(system, clerk);
            try {
                Thread.sleep(random.nextInt(15));
            } catch (InterruptedException interrupted) {
                return;
            }
        }
    }
}
