/* expect:
 *   thread main, v1, v2
 *   fork v1 == 1 by main
 *   fork v2 == 1 by main
 *   begin == 1 by v1
 *   end == 1 by v1
 *   join v1 == 1 by main
 *   join v2 == 1 by main
 *   acquire Cell == 1 by v1
 *   write Cell.value == 1 by v1
 *   write Cell.value == 1 by v2
 * about: two virtual threads with names
 */
public class VirtualThreads {
    static class Cell {
        int value;

        synchronized void add(int amount) {
            value += amount;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Cell cell = new Cell();
        cell.add(1);
        Thread v1 = Thread.ofVirtual().name("v1").start(() -> cell.add(10));
        v1.join();
        Thread v2 = Thread.ofVirtual().name("v2").start(() -> cell.add(100));
        v2.join();
        System.out.println(cell.value);
    }
}
