/* fixed: TokensShared */
import java.util.StringTokenizer;

public class TokensSharedFixed {
    static class Words {
        private final StringTokenizer tokens = new StringTokenizer("one three");

        synchronized String next() {
            return tokens.nextToken();
        }
    }

    static class Reader implements Runnable {
        private final Words words;
        String word;

        Reader(Words words) {
            this.words = words;
        }

        @Override
        public void run() {
            word = words.next();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Words words = new Words();
        Reader one = new Reader(words);
        Reader two = new Reader(words);
        runBoth(one, two);
        boolean same = one.word.equals(two.word);
        System.out.println(same ? "one word twice" : "two words");
        if (same) {
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
