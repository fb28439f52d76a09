/* expect:
 *   thread main, t1, t2
 *   send Exchanger == 1 by t1
 *   receive Exchanger == 1 by t1
 *   send Exchanger == 1 by t2
 *   receive Exchanger == 1 by t2
 *   read Parcel.content == 1 by t1
 *   read Parcel.content == 1 by t2
 * about: two threads swap what they have made
 */
import java.util.concurrent.Exchanger;

public class Exchangers {
    static class Parcel {
        int content;
    }

    public static void main(String[] args) throws InterruptedException {
        Exchanger<Parcel> exchanger = new Exchanger<>();
        int[] got = new int[2];
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                Parcel parcel = new Parcel();
                parcel.content = me + 1;
                try {
                    got[me] = exchanger.exchange(parcel).content;
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }, "t" + (i + 1));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.println(got[0] + " " + got[1]);
    }
}
