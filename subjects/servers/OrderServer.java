/* bug:
 *   rule atomicity | data-race | check-then-act
 *   variable OrderServer.Shelf.stock | OrderServer.served | OrderServer.sessions
 *   evidence harmful
 *   outcome any
 * about: a server on the loopback with a pool of workers, a log with timestamps, a concurrent map and random requests. Three bugs:
 * the counter of requests is not atomic; the stock is checked and taken in two critical sections; a session is looked up and
 * then put. No two runs of it are alike.
 */
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

public class OrderServer {
    static class Shelf {
        private int stock = 300;

        synchronized int stock() {
            return stock;
        }

        private synchronized void take(int pieces) {
            stock -= pieces;
        }

        String order(int pieces) {
            if (stock() >= pieces) {
                take(pieces);
                return "sold " + pieces;
            }
            return "sold out";
        }
    }

    private final Shelf shelf = new Shelf();
    private final ConcurrentHashMap<String, StringBuffer> sessions = new ConcurrentHashMap<>();
    private final List<String> log = new ArrayList<>();
    private int served;

    private void log(String words) {
        synchronized (log) {
            log.add(Instant.now() + " " + words);
        }
    }

    String visit(String user) {
        StringBuffer session = sessions.get(user);
        if (session == null) {
            session = new StringBuffer();
            sessions.put(user, session);
        }
        synchronized (session) {
            session.append('.');
            return "visits " + session.length();
        }
    }

    void serve(Socket socket) {
        try (socket;
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
                PrintWriter out = new PrintWriter(socket.getOutputStream(), true)) {
            String line;
            while ((line = in.readLine()) != null) {
                String[] words = line.split(" ");
                String answer = words[0].equals("order") ? shelf.order(Integer.parseInt(words[1])) : visit(words[1]);
                served++;
                log(line + ": " + answer);
                out.println(answer);
            }
        } catch (IOException e) {
            log(e.toString());
        }
    }

    public static void main(String[] args) throws Exception {
        OrderServer server = new OrderServer();
        ExecutorService workers = Executors.newFixedThreadPool(4);
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread acceptor = new Thread(() -> {
                try {
                    while (true) {
                        Socket socket = listener.accept();
                        workers.execute(() -> server.serve(socket));
                    }
                } catch (IOException closed) {
                    server.log("closed");
                }
            }, "acceptor");
            acceptor.start();
            Thread[] clients = new Thread[4];
            for (int i = 0; i < clients.length; i++) {
                clients[i] = new Thread(() -> client(listener.getLocalPort()), "client-" + i);
                clients[i].start();
            }
            for (Thread client : clients) {
                client.join();
            }
        }
        workers.shutdown();
        workers.awaitTermination(10, TimeUnit.SECONDS);
        System.out.println("served " + server.served + ", in stock " + server.shelf.stock() + ", users " + server.sessions.size());
        System.exit(server.shelf.stock() < 0 ? 1 : 0);
    }

    private static void client(int port) {
        Random random = new Random();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
                BufferedReader in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
                PrintWriter out = new PrintWriter(socket.getOutputStream(), true)) {
            for (int i = 0; i < 40; i++) {
                out.println(random.nextBoolean() ? "order " + (1 + random.nextInt(20)) : "visit user" + random.nextInt(5));
                in.readLine();
                Thread.sleep(random.nextInt(3));
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
