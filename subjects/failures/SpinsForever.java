/* endless
 * Two threads count for ever: the run is ended after --run-limit, and what was recorded is analysed.
 */
public class SpinsForever {
    static volatile boolean stop;
    static int turns;

    static void spin() {
        while (!stop) {
            synchronized (SpinsForever.class) {
                turns++;
            }
        }
    }

    public static void main(String[] args) {
        new Thread(SpinsForever::spin, "one").start();
        new Thread(SpinsForever::spin, "two").start();
    }
}
