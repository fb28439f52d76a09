package libraries;

import fi.iki.elonen.NanoHTTPD;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A server that takes measurements and tells their mean. The bug: the report reads the sum and the number in two calls, each
 * of which has the lock, so that a measurement can come between them and the mean is wrong.
 */
public final class NanoHttpdDriver {
    private static final int CLIENTS = 4;
    private static final int REQUESTS = 40;
    private static final int VALUE = 7;

    static class Series {
        private long sum;
        private int number;

        synchronized void add(int value) {
            sum += value;
            number++;
        }

        synchronized long sum() {
            return sum;
        }

        synchronized int number() {
            return number;
        }

        String report() {
            return sum() + " of " + number();
        }
    }

    /** Corrected: both are read at once. */
    static final class CarefulSeries extends Series {
        @Override
        synchronized String report() {
            return super.report();
        }
    }

    static final class Server extends NanoHTTPD {
        private final Series series;

        Server(Series series) {
            super("127.0.0.1", 0);
            this.series = series;
        }

        @Override
        public Response serve(IHTTPSession session) {
            if (session.getUri().equals("/report")) {
                return newFixedLengthResponse(series.report());
            }
            series.add(VALUE);
            return newFixedLengthResponse("ok");
        }
    }

    public static void main(String[] args) throws Exception {
        Series series = args.length > 0 && args[0].equals("fixed") ? new CarefulSeries() : new Series();
        Server server = new Server(series);
        server.start(5_000, true);
        AtomicInteger wrong = new AtomicInteger();
        List<Thread> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            Thread client = new Thread(() -> ask("http://127.0.0.1:" + server.getListeningPort(), wrong), "client-" + i);
            clients.add(client);
            client.start();
        }
        for (Thread client : clients) {
            client.join();
        }
        server.stop();
        System.out.println("wrong reports: " + wrong.get());
        System.exit(wrong.get() == 0 ? 0 : 1);
    }

    private static void ask(String base, AtomicInteger wrong) {
        Random random = new Random();
        for (int i = 0; i < REQUESTS; i++) {
            boolean report = random.nextInt(3) == 0;
            try (InputStream in = URI.create(base + (report ? "/report" : "/add")).toURL().openStream()) {
                String[] words = new String(in.readAllBytes(), StandardCharsets.UTF_8).split(" of ");
                if (report && Long.parseLong(words[0]) != VALUE * Long.parseLong(words[1])) {
                    wrong.incrementAndGet();
                }
            } catch (IOException failed) {
                System.err.println("request failed: " + failed);
            }
        }
    }
}
