/*
 * Prices options by Monte Carlo simulation: tasks (one path batch each, with its own seed) wait in a shared list under a
 * lock, results are collected in a synchronised table. The result does not depend on the number of threads.
 *
 * Arguments: size (batches, default 6000), threads (default 2).
 */
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;

public class MonteCarlo {
    static final int PATHS = 40;
    static final int STEPS = 100;

    /** What is priced. Read by all threads, never changed. */
    static final class Product {
        final String name;
        final double spot;
        final double strike;
        final double rate;
        final double volatility;
        final double years;

        Product(String name, double spot, double strike, double rate, double volatility, double years) {
            this.name = name;
            this.spot = spot;
            this.strike = strike;
            this.rate = rate;
            this.volatility = volatility;
            this.years = years;
        }
    }

    static final class Path {
        final double[] prices = new double[STEPS + 1];

        void walk(Product product, Random random) {
            double dt = product.years / STEPS;
            double drift = (product.rate - 0.5 * product.volatility * product.volatility) * dt;
            double spread = product.volatility * Math.sqrt(dt);
            prices[0] = product.spot;
            for (int i = 1; i <= STEPS; i++) {
                prices[i] = prices[i - 1] * Math.exp(drift + spread * random.nextGaussian());
            }
        }

        double average() {
            double sum = 0;
            for (int i = 1; i <= STEPS; i++) {
                sum += prices[i];
            }
            return sum / STEPS;
        }

        double last() {
            return prices[STEPS];
        }
    }

    static final class Batch {
        final int number;
        final Product product;

        Batch(int number, Product product) {
            this.number = number;
            this.product = product;
        }
    }

    static final class Result {
        final int number;
        double european;
        double asian;
        int inTheMoney;

        Result(int number) {
            this.number = number;
        }

        void add(Product product, Path path) {
            double gain = path.last() - product.strike;
            if (gain > 0) {
                inTheMoney++;
                european += gain;
            }
            asian += Math.max(0, path.average() - product.strike);
        }
    }

    static final class Work {
        private final Deque<Batch> waiting = new ArrayDeque<>();

        synchronized void add(Batch batch) {
            waiting.add(batch);
        }

        synchronized Batch next() {
            return waiting.poll();
        }
    }

    static final class Results {
        private final Result[] results;
        private int count;

        Results(int size) {
            results = new Result[size];
        }

        synchronized void put(Result result) {
            results[result.number] = result;
            count++;
        }

        synchronized String summary() {
            double european = 0;
            double asian = 0;
            long inTheMoney = 0;
            for (Result result : results) {
                european += result.european;
                asian += result.asian;
                inTheMoney += result.inTheMoney;
            }
            double paths = (double) count * PATHS;
            return String.format("%d batches, european %.6f, asian %.6f, in the money %d", count, european / paths,
                    asian / paths, inTheMoney);
        }
    }

    static void simulate(Work work, Results results) {
        Path path = new Path();
        for (Batch batch = work.next(); batch != null; batch = work.next()) {
            Random random = new Random(1_000_003L * batch.number);
            Result result = new Result(batch.number);
            for (int i = 0; i < PATHS; i++) {
                path.walk(batch.product, random);
                result.add(batch.product, path);
            }
            results.put(result);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 6000;
        int threads = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        Product[] products = {
            new Product("near", 100, 100, 0.03, 0.2, 1),
            new Product("far", 100, 120, 0.03, 0.35, 2),
            new Product("calm", 100, 95, 0.01, 0.1, 0.5),
        };
        Work work = new Work();
        Results results = new Results(size);
        for (int i = 0; i < size; i++) {
            work.add(new Batch(i, products[i % products.length]));
        }
        List<Thread> workers = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            Thread worker = new Thread(() -> simulate(work, results), "monte-carlo-" + i);
            workers.add(worker);
            worker.start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        System.out.println("monte carlo " + size + ": " + results.summary());
    }
}
