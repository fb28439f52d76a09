/* silent
 * A thread waits for a connection, all others wait for it: that is no standstill.
 */
import java.io.IOException;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;

public class AcceptsForLong {
    static int turns;

    static synchronized void serve() {
        try (ServerSocket server = new ServerSocket(0)) {
            server.setSoTimeout(6000);
            server.accept();
        } catch (SocketTimeoutException e) {
            turns++;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    static synchronized void count() {
        turns++;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread server = new Thread(AcceptsForLong::serve, "server");
        server.start();
        Thread.sleep(200);
        Thread client = new Thread(AcceptsForLong::count, "client");
        client.start();
        server.join();
        client.join();
        System.out.println("turns " + turns);
    }
}
