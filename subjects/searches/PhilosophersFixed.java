/* fixed: Philosophers
 * The last one takes the right fork first.
 */
public class PhilosophersFixed {
    static final int SEATS = 4;
    static final Object[] FORKS = new Object[SEATS];
    static int meals;

    static void eat(int seat) {
        Object first = FORKS[Math.min(seat, (seat + 1) % SEATS)];
        Object second = FORKS[Math.max(seat, (seat + 1) % SEATS)];
        synchronized (first) {
            synchronized (second) {
                count();
            }
        }
    }

    static synchronized void count() {
        meals++;
    }

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < SEATS; i++) FORKS[i] = new Object();
        Thread[] guests = new Thread[SEATS];
        for (int i = 0; i < SEATS; i++) {
            int seat = i;
            guests[i] = new Thread(() -> eat(seat), "guest " + i);
        }
        for (Thread guest : guests) guest.start();
        for (Thread guest : guests) guest.join();
    }
}
