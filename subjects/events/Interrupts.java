/* expect:
 *   thread main, t1
 *   send interrupt|Thread >= 1 by main
 *   receive interrupt|Thread >= 1 by t1
 *   read Cell.value == 1 by t1
 * about: what main wrote before the interrupt is seen by the thread that notices it
 */
public class Interrupts {
    static class Cell {
        int value;
    }

    public static void main(String[] args) throws InterruptedException {
        Cell cell = new Cell();
        Thread t1 = new Thread(() -> {
            while (!Thread.interrupted()) {
                Thread.onSpinWait();
            }
            System.out.println(cell.value);
        }, "t1");
        t1.start();
        cell.value = 12;
        t1.interrupt();
        t1.join();
    }
}
