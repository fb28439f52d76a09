/* silent
 * Sockets of two threads use maps of the JDK that its class initialisers fill and its own locks guard. The program shares no map:
 *   what a socket looks up while it is opened or closed is no race of the program.
 */
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

public class Visits {
    static final Object door = new Object();
    static int visitors;

    public static void main(String[] args) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Thread porter = new Thread(() -> admit(server), "porter");
            porter.start();
            try (Socket visitor = new Socket(server.getInetAddress(), server.getLocalPort())) {
                visitor.getOutputStream().write(1);
            }
            synchronized (door) {
                while (visitors == 0) {
                    door.wait();
                }
                System.out.println("visitors " + visitors);
            }
            porter.join();
        }
    }

    static void admit(ServerSocket server) {
        try (Socket guest = server.accept()) {
            guest.getInputStream().read();
            synchronized (door) {
                visitors++;
                door.notifyAll();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
