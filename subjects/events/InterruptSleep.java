/* expect:
 *   thread main, t1
 *   write Cell.value == 1 by t1
 *   read Cell.value == 1 by main
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 *   end == 1 by t1
 * about: a sleeping thread is interrupted, a flag set before is seen after
 */
public class InterruptSleep {
    static class Cell {
        int value;
    }

    public static void main(String[] args) throws InterruptedException {
        Cell cell = new Cell();
        cell.value = 0;
        Thread t1 = new Thread(() -> {
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException e) {
                cell.value = Thread.currentThread().isInterrupted() ? -1 : 1;
            }
            Thread.currentThread().interrupt();
            if (!Thread.interrupted()) {
                System.out.println("lost");
            }
        }, "t1");
        t1.start();
        while (t1.getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(1);
        }
        t1.interrupt();
        t1.join();
        System.out.println(cell.value);
    }
}
