/*
 * The travelling salesman by branch and bound: threads take partial tours from a shared heap, extend them, and go depth
 * first below a limit. The shortest tour so far is read without the lock as a bound (it is volatile) and improved under
 * the lock. The length found does not depend on the number of threads.
 *
 * Arguments: size (cities, default 19), threads (default 2).
 */
import java.util.PriorityQueue;

public class Tsp {
    static final class Map {
        final int cities;
        final int[][] distance;
        final int[] shortestEdge;

        Map(int cities) {
            this.cities = cities;
            distance = new int[cities][cities];
            shortestEdge = new int[cities];
            int[] x = new int[cities];
            int[] y = new int[cities];
            int seed = 42;
            for (int i = 0; i < cities; i++) {
                seed = seed * 1103515245 + 12345 & 0x7FFFFFFF;
                x[i] = (seed >>> 8) % 1000;
                seed = seed * 1103515245 + 12345 & 0x7FFFFFFF;
                y[i] = (seed >>> 8) % 1000;
            }
            for (int i = 0; i < cities; i++) {
                shortestEdge[i] = Integer.MAX_VALUE;
                for (int j = 0; j < cities; j++) {
                    if (i != j) {
                        distance[i][j] = (int) Math.round(Math.hypot(x[i] - x[j], y[i] - y[j]));
                        shortestEdge[i] = Math.min(shortestEdge[i], distance[i][j]);
                    }
                }
            }
        }
    }

    static final class Tour implements Comparable<Tour> {
        final int[] path;
        final int length;
        final int visited;
        final int cost;
        final int bound;

        Tour(int[] path, int length, int visited, int cost, int bound) {
            this.path = path;
            this.length = length;
            this.visited = visited;
            this.cost = cost;
            this.bound = bound;
        }

        Tour extended(Map map, int city) {
            int[] next = path.clone();
            next[length] = city;
            int step = map.distance[path[length - 1]][city];
            return new Tour(next, length + 1, visited | 1 << city, cost + step,
                    bound + step - map.shortestEdge[path[length - 1]]);
        }

        boolean has(int city) {
            return (visited & 1 << city) != 0;
        }

        @Override
        public int compareTo(Tour other) {
            return Integer.compare(bound - 60 * length, other.bound - 60 * other.length);
        }
    }

    /** Tours to be extended, and how many threads are still at work. */
    static final class Pool {
        private final PriorityQueue<Tour> tours = new PriorityQueue<>();
        private int busy;

        synchronized void put(Tour tour) {
            tours.add(tour);
            notify();
        }

        /** The next tour, or null once nobody can make another one. */
        synchronized Tour take() throws InterruptedException {
            while (tours.isEmpty() && busy > 0) {
                wait();
            }
            if (tours.isEmpty()) {
                notifyAll();
                return null;
            }
            busy++;
            return tours.poll();
        }

        synchronized void done() {
            busy--;
            if (busy == 0) {
                notifyAll();
            }
        }
    }

    static final class Best {
        private volatile int cost = Integer.MAX_VALUE;
        private int[] path;
        private int improvements;

        int cost() {
            return cost;
        }

        synchronized void offer(int cost, int[] path) {
            if (cost < this.cost) {
                this.cost = cost;
                this.path = path.clone();
                improvements++;
            }
        }
    }

    static final class Solver implements Runnable {
        private final Map map;
        private final Pool pool;
        private final Best best;
        private final int[] path;
        private long nodes;

        Solver(Map map, Pool pool, Best best) {
            this.map = map;
            this.pool = pool;
            this.best = best;
            path = new int[map.cities];
        }

        @Override
        public void run() {
            try {
                for (Tour tour = pool.take(); tour != null; tour = pool.take()) {
                    split(tour);
                    pool.done();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private void split(Tour tour) {
            if (tour.bound >= best.cost()) {
                return;
            }
            if (tour.length >= 5) {
                System.arraycopy(tour.path, 0, path, 0, tour.length);
                search(tour.length, tour.visited, tour.cost, tour.bound);
                return;
            }
            for (int city = 1; city < map.cities; city++) {
                if (!tour.has(city)) {
                    pool.put(tour.extended(map, city));
                }
            }
        }

        private void search(int length, int visited, int cost, int bound) {
            nodes++;
            int here = path[length - 1];
            if (length == map.cities) {
                int total = cost + map.distance[here][0];
                if (total < best.cost()) {
                    best.offer(total, path);
                }
                return;
            }
            for (int city = 1; city < map.cities; city++) {
                if ((visited & 1 << city) != 0) {
                    continue;
                }
                int step = map.distance[here][city];
                int next = bound + step - map.shortestEdge[here];
                if (next < best.cost()) {
                    path[length] = city;
                    search(length + 1, visited | 1 << city, cost + step, next);
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 19;
        int threads = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        Map map = new Map(size);
        Pool pool = new Pool();
        Best best = new Best();
        int bound = 0;
        for (int edge : map.shortestEdge) {
            bound += edge;
        }
        pool.put(new Tour(new int[size], 1, 1, 0, bound));
        Thread[] workers = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Thread(new Solver(map, pool, best), "salesman-" + i);
            workers[i].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        int check = 0;
        for (int i = 0; i < size; i++) {
            check += map.distance[best.path[i]][best.path[(i + 1) % size]];
        }
        if (check != best.cost()) {
            throw new AssertionError("tour of " + check + ", not " + best.cost());
        }
        System.out.println("travelling salesman " + size + ": shortest " + best.cost());
    }
}
