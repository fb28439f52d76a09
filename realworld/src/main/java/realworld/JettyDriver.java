package realworld;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** Jetty on the loopback interface, four clients that store and fetch small texts. */
public final class JettyDriver {
    private static final int CLIENTS = 4;
    private static final int REQUESTS = 500;

    private JettyDriver() {
    }

    /** A store of texts by path: PUT keeps one, GET gives it back. */
    static final class Store extends Handler.Abstract {
        private final ConcurrentHashMap<String, String> texts = new ConcurrentHashMap<>();
        private final AtomicLong stored = new AtomicLong();
        private int served;

        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            String path = Request.getPathInContext(request);
            synchronized (this) {
                served++;
            }
            if ("PUT".equals(request.getMethod())) {
                texts.put(path, Content.Source.asString(request));
                stored.incrementAndGet();
                callback.succeeded();
                return true;
            }
            String text = texts.get(path);
            if (text == null) {
                Response.writeError(request, response, callback, 404);
                return true;
            }
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, "text/plain");
            Content.Sink.write(response, true, text, callback);
            return true;
        }

        synchronized int served() {
            return served;
        }
    }

    public static void main(String[] args) throws Exception {
        int requests = REQUESTS * (args.length > 0 ? Integer.parseInt(args[0]) : 1);
        QueuedThreadPool pool = new QueuedThreadPool(12, 4);
        pool.setName("jetty");
        Server server = new Server(pool);
        ServerConnector connector = new ServerConnector(server, 1, 1);
        connector.setHost("127.0.0.1");
        connector.setPort(0);
        server.addConnector(connector);
        Store store = new Store();
        server.setHandler(store);
        server.start();
        String base = "http://127.0.0.1:" + connector.getLocalPort();
        AtomicLong sum = new AtomicLong();
        Workers.run("client", CLIENTS, worker -> client(base, worker, requests, sum));
        server.stop();
        server.join();
        System.out.println("jetty: served " + store.served() + ", stored " + store.stored.get() + ", texts "
                + store.texts.size() + ", length " + sum.get());
    }

    private static void client(String base, int worker, int requests, AtomicLong sum) throws IOException {
        for (int i = 0; i < requests; i++) {
            String path = base + "/" + worker + "/" + i % 50;
            String text = "text " + i + " of " + worker;
            if (send("PUT", path, text).length() != 0) {
                throw new IOException("answer to PUT");
            }
            String back = send("GET", path, null);
            if (!back.equals(text)) {
                throw new IOException("got " + back + ", not " + text);
            }
            sum.addAndGet(back.length());
        }
    }

    private static String send(String method, String path, String body) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) URI.create(path).toURL().openConnection();
        connection.setRequestMethod(method);
        if (body != null) {
            connection.setDoOutput(true);
            try (OutputStream out = connection.getOutputStream()) {
                out.write(body.getBytes(StandardCharsets.UTF_8));
            }
        }
        if (connection.getResponseCode() != 200) {
            throw new IOException("status " + connection.getResponseCode());
        }
        try (InputStream in = connection.getInputStream()) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
