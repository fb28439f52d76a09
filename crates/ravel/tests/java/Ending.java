/** A race of two threads that end right after their only access. */
public class Ending {
    static int flag;

    public static void main(String[] args) throws InterruptedException {
        Thread writer = new Thread(() -> flag = 1, "writer");
        Thread reader = new Thread(() -> {
            if (flag > 1) throw new AssertionError();
        }, "reader");
        writer.start();
        reader.start();
        writer.join();
        reader.join();
    }
}
