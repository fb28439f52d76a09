/*
 * An elevator simulation in ticks: passengers are put on the floors by a plan, every lift is a thread that claims calls on
 * a shared board, and a barrier ends each tick. All passengers arrive.
 *
 * Arguments: size (passengers in thousands, default 120), threads (lifts, default 2).
 */
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

public class Elevator {
    static final int FLOORS = 60;
    static final int CAPACITY = 12;

    static final class Passenger {
        final int number;
        final int from;
        final int to;
        final int appears;
        int arrived = -1;

        Passenger(int number, int from, int to, int appears) {
            this.number = number;
            this.from = from;
            this.to = to;
            this.appears = appears;
        }
    }

    /** People waiting on one floor; its monitor guards the queue. */
    static final class Floor {
        private final Deque<Passenger> waiting = new ArrayDeque<>();
        private int claimedBy = -1;

        synchronized void arrive(Passenger passenger) {
            waiting.add(passenger);
        }

        synchronized boolean claim(int lift) {
            if (waiting.isEmpty() || claimedBy != -1 && claimedBy != lift) {
                return false;
            }
            claimedBy = lift;
            return true;
        }

        synchronized void board(int lift, List<Passenger> cabin) {
            while (cabin.size() < CAPACITY && !waiting.isEmpty()) {
                cabin.add(waiting.poll());
            }
            if (claimedBy == lift) {
                claimedBy = -1;
            }
        }
    }

    static final class Building {
        final Floor[] floors = new Floor[FLOORS];
        private final List<Passenger> plan;
        private int next;
        private int tick;
        private int delivered;
        private long waited;

        Building(List<Passenger> plan) {
            this.plan = plan;
            for (int i = 0; i < FLOORS; i++) {
                floors[i] = new Floor();
            }
        }

        /** Run by one thread while all others wait at the barrier. */
        void endTick() {
            tick++;
            while (next < plan.size() && plan.get(next).appears <= tick) {
                Passenger passenger = plan.get(next++);
                floors[passenger.from].arrive(passenger);
            }
        }

        synchronized void deliver(Passenger passenger, int now) {
            if (passenger.arrived != -1) {
                throw new AssertionError("delivered twice: " + passenger.number);
            }
            passenger.arrived = now;
            delivered++;
            waited += now - passenger.appears;
        }

        synchronized boolean finished() {
            return delivered == plan.size();
        }
    }

    static final class Lift implements Runnable {
        private final int number;
        private final Building building;
        private final CyclicBarrier barrier;
        private final List<Passenger> cabin = new ArrayList<>();
        private int floor;
        private int target = -1;
        private long moved;

        Lift(int number, Building building, CyclicBarrier barrier) {
            this.number = number;
            this.building = building;
            this.barrier = barrier;
        }

        @Override
        public void run() {
            try {
                boolean finished = false;
                while (!finished) {
                    step();
                    barrier.await();
                    finished = building.finished();
                    barrier.await();
                }
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new IllegalStateException(e);
            }
        }

        private void step() {
            for (Iterator<Passenger> i = cabin.iterator(); i.hasNext();) {
                Passenger passenger = i.next();
                if (passenger.to == floor) {
                    building.deliver(passenger, building.tick);
                    i.remove();
                }
            }
            if (cabin.size() < CAPACITY) {
                building.floors[floor].board(number, cabin);
            }
            if (!cabin.isEmpty()) {
                target = cabin.get(0).to;
            } else if (target == -1 || target == floor) {
                target = nearestCall();
            }
            if (target != -1 && target != floor) {
                floor += target > floor ? 1 : -1;
                moved++;
            }
        }

        private int nearestCall() {
            for (int distance = 0; distance < FLOORS; distance++) {
                if (floor + distance < FLOORS && building.floors[floor + distance].claim(number)) {
                    return floor + distance;
                }
                if (floor - distance >= 0 && building.floors[floor - distance].claim(number)) {
                    return floor - distance;
                }
            }
            return -1;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 120;
        int threads = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        List<Passenger> plan = new ArrayList<>();
        int seed = 5;
        for (int i = 0; i < size * 1000; i++) {
            seed = seed * 1103515245 + 12345 & 0x7FFFFFFF;
            int from = (seed >>> 8) % FLOORS;
            int to = (from + 1 + (seed >>> 16) % (FLOORS - 1)) % FLOORS;
            plan.add(new Passenger(i, from, to, i / 2));
        }
        Building building = new Building(plan);
        boolean[] second = new boolean[1];
        // Each tick has two barriers; the building moves on at the first.
        CyclicBarrier barrier = new CyclicBarrier(threads, () -> {
            second[0] = !second[0];
            if (second[0]) {
                building.endTick();
            }
        });
        Thread[] lifts = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            lifts[i] = new Thread(new Lift(i, building, barrier), "lift-" + i);
            lifts[i].start();
        }
        for (Thread lift : lifts) {
            lift.join();
        }
        long check = 0;
        for (Passenger passenger : plan) {
            if (passenger.arrived < passenger.appears) {
                throw new AssertionError("not delivered: " + passenger.number);
            }
            check += passenger.number ^ passenger.to;
        }
        System.out.println("elevator " + size + ": delivered " + building.delivered + ", checksum " + check);
    }
}
