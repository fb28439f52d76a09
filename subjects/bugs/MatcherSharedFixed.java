/* fixed: MatcherShared */
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class MatcherSharedFixed {
    static class Codes {
        private final Matcher matcher = Pattern.compile("([a-z]+)=([0-9]+)").matcher("");

        synchronized String key(String text) {
            matcher.reset(text);
            return matcher.matches() ? matcher.group(1) : "";
        }
    }

    static class Reader implements Runnable {
        private final Codes codes;
        private final String text;
        String key;

        Reader(Codes codes, String text) {
            this.codes = codes;
            this.text = text;
        }

        @Override
        public void run() {
            key = codes.key(text);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Codes codes = new Codes();
        Reader one = new Reader(codes, "one=1");
        Reader two = new Reader(codes, "three=3");
        runBoth(one, two);
        System.out.println(one.key + " " + two.key);
        if (!one.key.equals("one") || !two.key.equals("three")) {
            System.exit(1);
        }
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
