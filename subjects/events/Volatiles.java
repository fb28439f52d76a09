/* expect:
 *   thread main, t1
 *   write Box.payload == 1 by t1
 *   write Box.ready == 1 by t1
 *   write Box.stamp == 1 by t1
 *   read Box.ready >= 1 by main
 *   read Box.payload == 1 by main
 *   read Box.stamp == 1 by main
 *   write Volatiles.shared == 1 by t1
 * about: publication by a volatile flag, main spins politely until it is seen; a volatile long and a volatile static
 */
public class Volatiles {
    static class Box {
        int payload;
        volatile boolean ready;
        volatile long stamp;
    }

    static volatile int shared;

    public static void main(String[] args) throws InterruptedException {
        shared = 1;
        Box box = new Box();
        box.payload = 1;
        Thread t1 = new Thread(() -> {
            box.payload = 42;
            box.stamp = 1L << 40;
            shared = 2;
            box.ready = true;
        }, "t1");
        t1.start();
        while (!box.ready) {
            Thread.sleep(1);
        }
        System.out.println(box.payload + " " + box.stamp + " " + shared);
        t1.join();
    }
}
