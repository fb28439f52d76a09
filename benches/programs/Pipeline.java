/*
 * A pipeline over blocking queues: one thread makes documents, workers count their words into a concurrent index, one
 * thread collects summaries through a future each. An executor runs the workers, a latch ends the job.
 *
 * Arguments: size (documents, default 100000), threads (workers, default 2).
 */
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

public class Pipeline {
    static final int WORDS = 40;
    static final String[] SYLLABLES = {"ra", "vel", "do", "mi", "so", "la", "ti", "ne", "ku", "po", "sha", "ren"};

    static final class Document {
        static final Document LAST = new Document(-1, "");
        final int number;
        final String text;

        Document(int number, String text) {
            this.number = number;
            this.text = text;
        }
    }

    static final class Summary {
        static final Summary LAST = new Summary(-1);
        final int number;
        String longest = "";
        int words;
        long hash;

        Summary(int number) {
            this.number = number;
        }

        void add(String word) {
            words++;
            hash += word.hashCode() * 2654435761L;
            if (word.length() > longest.length()) {
                longest = word;
            }
        }
    }

    static final class Index {
        private final ConcurrentHashMap<String, AtomicLong> counts = new ConcurrentHashMap<>();
        private final AtomicLong total = new AtomicLong();

        void add(Map<String, Integer> words) {
            for (Map.Entry<String, Integer> entry : words.entrySet()) {
                counts.computeIfAbsent(entry.getKey(), key -> new AtomicLong()).addAndGet(entry.getValue());
                total.addAndGet(entry.getValue());
            }
        }

        long checksum() {
            long sum = 0;
            for (Map.Entry<String, AtomicLong> entry : counts.entrySet()) {
                sum += entry.getKey().hashCode() * entry.getValue().get();
            }
            return sum;
        }
    }

    static final class Producer implements Runnable {
        private final BlockingQueue<Document> out;
        private final int documents;
        private final int workers;
        private int seed = 7;

        Producer(BlockingQueue<Document> out, int documents, int workers) {
            this.out = out;
            this.documents = documents;
            this.workers = workers;
        }

        private String text() {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < WORDS; i++) {
                int syllables = 1 + (seed >>> 9) % 3;
                for (int j = 0; j < syllables; j++) {
                    seed = seed * 1103515245 + 12345 & 0x7FFFFFFF;
                    text.append(SYLLABLES[(seed >>> 11) % SYLLABLES.length]);
                }
                text.append(' ');
            }
            return text.toString();
        }

        @Override
        public void run() {
            try {
                for (int i = 0; i < documents; i++) {
                    out.put(new Document(i, text()));
                }
                for (int i = 0; i < workers; i++) {
                    out.put(Document.LAST);
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    static Summary summarise(Document document, Index index) {
        Summary summary = new Summary(document.number);
        Map<String, Integer> words = new HashMap<>();
        int start = 0;
        for (int end = document.text.indexOf(' '); end >= 0; end = document.text.indexOf(' ', start)) {
            String word = document.text.substring(start, end);
            summary.add(word);
            words.merge(word, 1, Integer::sum);
            start = end + 1;
        }
        index.add(words);
        return summary;
    }

    static int work(BlockingQueue<Document> in, BlockingQueue<Summary> out, Index index, CountDownLatch done)
            throws InterruptedException {
        int count = 0;
        for (Document document = in.take(); document != Document.LAST; document = in.take()) {
            out.put(summarise(document, index));
            count++;
        }
        done.countDown();
        return count;
    }

    static long collect(BlockingQueue<Summary> in, int documents) throws InterruptedException {
        boolean[] seen = new boolean[documents];
        long checksum = 0;
        for (Summary summary = in.take(); summary != Summary.LAST; summary = in.take()) {
            if (seen[summary.number]) {
                throw new AssertionError("twice: " + summary.number);
            }
            seen[summary.number] = true;
            checksum += summary.hash ^ summary.number * 31L + summary.longest.length() + summary.words;
        }
        return checksum;
    }

    public static void main(String[] args) throws InterruptedException, ExecutionException {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 100_000;
        int threads = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        BlockingQueue<Document> documents = new ArrayBlockingQueue<>(64);
        BlockingQueue<Summary> summaries = new LinkedBlockingQueue<>(64);
        Index index = new Index();
        CountDownLatch done = new CountDownLatch(threads);
        ExecutorService pool = Executors.newFixedThreadPool(threads + 2);
        pool.execute(new Producer(documents, size, threads));
        Future<Long> collected = pool.submit(() -> collect(summaries, size));
        for (int i = 0; i < threads; i++) {
            pool.submit(() -> work(documents, summaries, index, done));
        }
        done.await();
        summaries.put(Summary.LAST);
        System.out.println("pipeline " + size + ": words " + index.total.get() + ", summaries "
                + Long.toHexString(collected.get()) + ", index " + Long.toHexString(index.checksum()));
        pool.shutdown();
    }
}
