/** An array of booleans that a method gets as an argument, and one that a local variable holds. */
public class Seats {
    static boolean take(boolean[] taken, int seat) {
        if (taken[seat]) {
            return false;
        }
        taken[seat] = true;
        return true;
    }

    public static void main(String[] args) throws InterruptedException {
        boolean[] hall = new boolean[4];
        int[] sold = new int[2];
        Thread t1 = new Thread(() -> sold[0] = take(hall, 2) ? 1 : 0, "t1");
        Thread t2 = new Thread(() -> {
            pause();
            sold[1] = take(hall, 2) ? 1 : 0;
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println("sold " + (sold[0] + sold[1]));
        if (sold[0] + sold[1] != 1) {
            System.exit(1);
        }
    }

    static void pause() {
        try {
            Thread.sleep(100);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
