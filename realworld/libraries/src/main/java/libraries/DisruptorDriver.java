package libraries;

import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.dsl.Disruptor;
import com.lmax.disruptor.util.DaemonThreadFactory;
import java.util.Random;

/**
 * Trades that two handlers book side by side from one ring. The bug: both add to the turnover of the day, without a lock, so that an amount can be
 * lost.
 */
public final class DisruptorDriver {
    private static final int TRADES = 400;

    static final class Trade {
        private int amount;
    }

    static class Day {
        private long turnover;

        void add(int amount) {
            turnover += amount;
        }

        long turnover() {
            return turnover;
        }
    }

    /** Corrected: one handler at a time. */
    static final class CarefulDay extends Day {
        @Override
        synchronized void add(int amount) {
            super.add(amount);
        }

        @Override
        synchronized long turnover() {
            return super.turnover();
        }
    }

    public static void main(String[] args) throws Exception {
        Day day = args.length > 0 && args[0].equals("fixed") ? new CarefulDay() : new Day();
        Disruptor<Trade> disruptor = new Disruptor<>(Trade::new, 64, DaemonThreadFactory.INSTANCE);
        disruptor.handleEventsWith(
                (trade, sequence, last) -> day.add(trade.amount), (trade, sequence, last) -> day.add(trade.amount));
        RingBuffer<Trade> ring = disruptor.start();
        Random random = new Random();
        for (int i = 0; i < TRADES; i++) {
            ring.publishEvent((trade, sequence) -> trade.amount = 1);
            if (i % 8 == 0) {
                Thread.sleep(random.nextInt(4));
            }
        }
        disruptor.shutdown();
        long turnover = day.turnover();
        System.out.println("turnover " + turnover + ", expected " + 2 * TRADES);
        System.exit(turnover == 2 * TRADES ? 0 : 1);
    }
}
