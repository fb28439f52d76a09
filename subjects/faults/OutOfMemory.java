/* fault:
 *   exit 0
 *   jvm -Xmx48m
 *   output exact
 * about: runs out of heap in a thread, catches the error, lets go and works on
 */
import java.util.ArrayList;
import java.util.List;

public class OutOfMemory {
    static class Block {
        final byte[] bytes = new byte[256 * 1024];
        Block next;
    }

    static class Hoard {
        Block first;
        int blocks;

        synchronized void fill() {
            while (true) {
                Block block = new Block();
                block.next = first;
                first = block;
                blocks++;
            }
        }

        synchronized void drop() {
            first = null;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Hoard hoard = new Hoard();
        hoard.drop();
        for (int round = 0; round < 3; round++) {
            Thread t1 = new Thread(() -> {
                try {
                    hoard.fill();
                } catch (OutOfMemoryError e) {
                    hoard.drop();
                    System.out.println("out of memory");
                }
            }, "t1");
            t1.start();
            t1.join();
        }
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            numbers.add(i);
        }
        System.out.println(hoard.blocks > 0 && numbers.size() == 1000 ? "goes on" : "wrong");
        try {
            System.out.println(new int[Integer.MAX_VALUE].length);
        } catch (OutOfMemoryError e) {
            System.out.println("array too large");
        }
    }
}
