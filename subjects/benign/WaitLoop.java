/* silent
 * A bounded buffer with the usual wait loops: the wait splits the method, and that is right.
 */
public class WaitLoop {
    static class Buffer {
        private final int[] slots = new int[2];
        private int count;

        synchronized void put(int value) throws InterruptedException {
            while (count == slots.length) {
                wait();
            }
            slots[count++] = value;
            notifyAll();
        }

        synchronized int take() throws InterruptedException {
            while (count == 0) {
                wait();
            }
            int value = slots[--count];
            notifyAll();
            return value;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Buffer buffer = new Buffer();
        Thread producer = new Thread(() -> {
            try {
                for (int i = 1; i <= 10; i++) {
                    buffer.put(i);
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }, "producer");
        producer.start();
        int sum = 0;
        for (int i = 0; i < 10; i++) {
            sum += buffer.take();
        }
        producer.join();
        System.out.println(sum);
    }
}
