/* expect:
 *   thread main, t1
 *   acquire Guard == 3 by t1
 *   release Guard == 3 by t1
 *   acquire Other == 1 by t1
 *   release Other == 1 by t1
 *   acquire Class == 1 by t1
 *   release Class == 1 by t1
 *   acquire int[] == 1 by t1
 *   write Guard.value == 3 by t1
 * about: blocks on an object (three times), nested in one of them a block on another, a class literal, an array; main
 *   has locked each of them once before
 */
public class SynchronizedBlocks {
    static class Guard {
        int value;
    }

    static class Other {
        int value;
    }

    public static void main(String[] args) throws InterruptedException {
        Guard guard = new Guard();
        Other other = new Other();
        int[] array = new int[1];
        once(guard, other, array);
        Thread t1 = new Thread(() -> {
            once(guard, other, array);
            for (int i = 0; i < 2; i++) {
                synchronized (guard) {
                    guard.value = i;
                }
            }
        }, "t1");
        t1.start();
        t1.join();
        System.out.println("done");
    }

    static void once(Guard guard, Other other, int[] array) {
        synchronized (guard) {
            synchronized (other) {
                guard.value = 7;
                other.value = 7;
            }
        }
        synchronized (SynchronizedBlocks.class) {
            synchronized (array) {
                array[0]++;
            }
        }
    }
}
