/* fixed: DeadlockThree */
public class DeadlockThreeFixed {
    static class Fork {
        private int uses;

        synchronized int uses() {
            return uses;
        }
    }

    static class Philosopher implements Runnable {
        private final Fork left;
        private final Fork right;
        private final int delay;

        Philosopher(Fork left, Fork right, int delay) {
            this.left = left;
            this.right = right;
            this.delay = delay;
        }

        @Override
        public void run() {
            nap(delay);
            eat();
        }

        void eat() {
            synchronized (left) {
                synchronized (right) {
                    left.uses++;
                    right.uses++;
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Fork[] forks = {new Fork(), new Fork(), new Fork()};
        Thread[] threads = new Thread[3];
        for (int i = 0; i < 3; i++) {
            int other = (i + 1) % 3;
            threads[i] = new Thread(new Philosopher(forks[Math.min(i, other)], forks[Math.max(i, other)], i * 100),
                    "philosopher-" + i);
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(forks[0].uses() + forks[1].uses() + forks[2].uses());
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
