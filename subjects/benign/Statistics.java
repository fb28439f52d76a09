/* silent
 * A counter for statistics, marked @NotAtomic: losing a count now and then is accepted. The annotation is the
 * program's own, and is known by its simple name.
 */
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

public class Statistics {
    @Retention(RetentionPolicy.CLASS)
    @Target({ElementType.METHOD, ElementType.FIELD})
    @interface NotAtomic {
    }

    static class Server {
        @NotAtomic
        private volatile int requests;
        private int served;

        @NotAtomic
        void count() {
            requests++;
        }

        void serve() {
            count();
            synchronized (this) {
                served++;
            }
        }

        synchronized int served() {
            return served;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Server server = new Server();
        Thread t1 = new Thread(server::serve, "t1");
        Thread t2 = new Thread(server::serve, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
        System.out.println(server.served());
    }
}
