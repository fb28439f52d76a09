/* expect:
 *   thread main, t1
 *   read|write|update ThreadLocal.* == 0
 *   write Box.value == 0
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 * about: each thread has its own box, so nothing is shared
 */
public class ThreadLocals {
    static class Box {
        int value;
    }

    static final ThreadLocal<Box> BOX = ThreadLocal.withInitial(Box::new);

    static int add(int amount) {
        Box box = BOX.get();
        box.value += amount;
        return box.value;
    }

    public static void main(String[] args) throws InterruptedException {
        add(1);
        Thread t1 = new Thread(() -> System.out.println(add(10) + add(10)), "t1");
        t1.start();
        t1.join();
        System.out.println(add(1));
        BOX.remove();
        System.out.println(add(5));
    }
}
