/**
 * What `ravel doctor` runs to see whether a JVM can be recorded. The class file beside it is part of Ravel, since a JVM
 * need not come with a compiler: `javac --release 8 -g -d . Probe.java`.
 */
public class Probe implements Runnable {
    private int count;

    public synchronized void run() {
        count++;
    }

    public static void main(String[] args) throws InterruptedException {
        Probe probe = new Probe();
        Thread[] threads = {new Thread(probe), new Thread(probe)};
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.exit(probe.count == threads.length ? 0 : 1);
    }
}
