/*
 * Relaxation of a grid by red and black half-sweeps (successive over-relaxation). Every thread owns a band of rows; a
 * barrier separates the half-sweeps, so the result does not depend on the number of threads.
 *
 * Arguments: size (rows, default 2000), threads (default 2).
 */
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

public class Sor {
    static final int SWEEPS = 100;

    /** The grid with its parameters. */
    static final class Grid {
        final double[][] cells;
        final double omega;

        Grid(int size, double omega) {
            this.omega = omega;
            cells = new double[size][size];
            for (int i = 0; i < size; i++) {
                cells[i][0] = 1;
                cells[0][i] = i / (double) size;
                cells[size - 1][i] = 0.5;
            }
        }

        int size() {
            return cells.length;
        }

        /** Relaxes every second cell of a row; returns the largest change. */
        double relax(int row, int colour) {
            double[] above = cells[row - 1];
            double[] here = cells[row];
            double[] below = cells[row + 1];
            double largest = 0;
            for (int j = 1 + (row + colour) % 2; j < here.length - 1; j += 2) {
                double old = here[j];
                double average = (above[j] + below[j] + here[j - 1] + here[j + 1]) * 0.25;
                double next = old + omega * (average - old);
                here[j] = next;
                largest = Math.max(largest, Math.abs(next - old));
            }
            return largest;
        }

        double sum() {
            double sum = 0;
            for (double[] row : cells) {
                for (double cell : row) {
                    sum += cell;
                }
            }
            return sum;
        }
    }

    /** The largest change of each sweep, kept under a lock as the threads report. */
    static final class Residuals {
        private final double[] largest = new double[SWEEPS];

        synchronized void report(int sweep, double change) {
            if (change > largest[sweep]) {
                largest[sweep] = change;
            }
        }

        synchronized double get(int sweep) {
            return largest[sweep];
        }
    }

    static final class Worker extends Thread {
        private final Grid grid;
        private final Residuals residuals;
        private final CyclicBarrier barrier;
        private final int from;
        private final int to;

        Worker(int number, int of, Grid grid, Residuals residuals, CyclicBarrier barrier) {
            super("sor-" + number);
            this.grid = grid;
            this.residuals = residuals;
            this.barrier = barrier;
            int rows = grid.size() - 2;
            from = 1 + rows * number / of;
            to = 1 + rows * (number + 1) / of;
        }

        @Override
        public void run() {
            try {
                for (int sweep = 0; sweep < SWEEPS; sweep++) {
                    for (int colour = 0; colour < 2; colour++) {
                        double change = 0;
                        for (int row = from; row < to; row++) {
                            change = Math.max(change, grid.relax(row, colour));
                        }
                        residuals.report(sweep, change);
                        barrier.await();
                    }
                }
            } catch (InterruptedException | BrokenBarrierException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 2000;
        int threads = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        Grid grid = new Grid(size, 1.25);
        Residuals residuals = new Residuals();
        CyclicBarrier barrier = new CyclicBarrier(threads);
        Worker[] workers = new Worker[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Worker(i, threads, grid, residuals, barrier);
            workers[i].start();
        }
        for (Worker worker : workers) {
            worker.join();
        }
        System.out.printf("sor %d: sum %.9f, last change %.9f%n", size, grid.sum(), residuals.get(SWEEPS - 1));
    }
}
