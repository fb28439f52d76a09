import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;

/** A lost update; between reading and writing, the first thread blocks in a way that a schedule does not know of. */
public class Between {
    /** What happens between the read and the write of the first thread, and before those of the second. */
    interface Blocking {
        void first() throws Exception;

        default void second() throws Exception {}
    }

    static final AtomicInteger value = new AtomicInteger();

    static final class Slow {
        static final int RESULT = compute();

        static int compute() {
            try {
                Thread.sleep(100);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            return value.get() < 0 ? 1 : 0;
        }
    }

    /** The first thread waits for a byte that the second one sends. */
    static final class Sockets implements Blocking {
        private final Socket near;
        private final Socket far;

        Sockets() throws IOException {
            try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                near = new Socket(server.getInetAddress(), server.getLocalPort());
                far = server.accept();
            }
        }

        @Override
        public void first() throws IOException {
            if (near.getInputStream().read() != 1) throw new AssertionError("nothing came");
        }

        @Override
        public void second() throws IOException {
            far.getOutputStream().write(1);
        }
    }

    static Blocking blocking(String kind) throws IOException {
        Object lock = new Object();
        switch (kind) {
            case "sleep":
                return () -> Thread.sleep(100);
            case "wait":
                return () -> {
                    synchronized (lock) {
                        lock.wait(100);
                    }
                };
            case "initialiser":
                return new Blocking() {
                    @Override
                    public void first() {
                        if (Slow.RESULT != 0) throw new AssertionError();
                    }

                    @Override
                    public void second() {
                        if (Slow.RESULT != 0) throw new AssertionError();
                    }
                };
            case "input":
                return () -> {
                    if (System.in.read() != 'x') throw new AssertionError("no input");
                };
            case "socket":
                return new Sockets();
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    public static void main(String[] args) throws Exception {
        Blocking blocking = blocking(args[0]);
        Thread t1 = new Thread(() -> add(blocking, true), "t1");
        Thread t2 = new Thread(() -> add(blocking, false), "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println("value " + value.get());
    }

    static void add(Blocking blocking, boolean first) {
        try {
            if (!first) blocking.second();
            int seen = value.get();
            if (first) blocking.first();
            value.set(seen + 1);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
