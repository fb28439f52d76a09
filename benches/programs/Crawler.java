/*
 * A crawler over pages that are made up as they are asked for: threads take addresses from a shared frontier, fetch and parse
 * pages on their own, and note what they found in shared tables, each under its lock. Every page is visited once, so the
 * result does not depend on the number of threads.
 *
 * Arguments: size (thousands of pages, default 20), threads (default 2).
 */
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

public class Crawler {
    /** What a page says; only the thread that fetched it ever looks into it. */
    static final class Page {
        final int address;
        final StringBuilder text = new StringBuilder();
        int words;
        long checksum;

        Page(int address) {
            this.address = address;
        }
    }

    /** Makes pages up: the same address gives the same page. */
    static final class Site {
        private final int pages;
        private final String[] vocabulary;

        Site(int pages) {
            this.pages = pages;
            vocabulary = new String[64];
            for (int i = 0; i < vocabulary.length; i++) {
                vocabulary[i] = "w" + Integer.toString(i * 7919 + 13, 36);
            }
        }

        Page fetch(int address) {
            Page page = new Page(address);
            long state = address * 0x9E3779B97F4A7C15L + 1;
            for (int i = 0; i < 60; i++) {
                state = state * 6364136223846793005L + 1442695040888963407L;
                int pick = (int) (state >>> 58);
                if (i % 10 == 9) {
                    page.text.append('@').append(Math.floorMod((int) (state >>> 30), pages)).append(' ');
                } else {
                    page.text.append(vocabulary[pick]).append(' ');
                }
            }
            return page;
        }
    }

    /** Takes pages apart. */
    static final class Parser {
        private final List<Integer> links = new ArrayList<>();
        private final Map<String, Integer> counts = new HashMap<>();

        void parse(Page page) {
            links.clear();
            counts.clear();
            int start = 0;
            int length = page.text.length();
            for (int i = 0; i < length; i++) {
                char c = page.text.charAt(i);
                page.checksum = page.checksum * 31 + c;
                if (c != ' ') {
                    continue;
                }
                String word = page.text.substring(start, i);
                start = i + 1;
                if (word.charAt(0) == '@') {
                    links.add(Integer.parseInt(word.substring(1)));
                } else {
                    page.words++;
                    counts.merge(word, 1, Integer::sum);
                }
            }
        }
    }

    /** The addresses still to be visited. */
    static final class Frontier {
        private final ArrayDeque<Integer> waiting = new ArrayDeque<>();
        private final Set<Integer> known = new HashSet<>();
        private int busy;

        synchronized void offer(List<Integer> addresses) {
            for (Integer address : addresses) {
                if (known.add(address)) {
                    waiting.add(address);
                }
            }
            notifyAll();
        }

        /** The next address; null when there will be none. */
        synchronized Integer take() throws InterruptedException {
            while (waiting.isEmpty() && busy > 0) {
                wait();
            }
            Integer next = waiting.poll();
            if (next != null) {
                busy++;
            }
            return next;
        }

        synchronized void done() {
            busy--;
            notifyAll();
        }
    }

    /** What all pages say together. */
    static final class Index {
        private final Map<String, Integer> counts = new HashMap<>();
        private long pages;
        private long words;
        private long checksum;

        synchronized void add(Page page, Map<String, Integer> found) {
            pages++;
            words += page.words;
            checksum ^= page.checksum;
            for (Map.Entry<String, Integer> entry : found.entrySet()) {
                counts.merge(entry.getKey(), entry.getValue(), Integer::sum);
            }
        }

        synchronized String summary() {
            return pages + " pages, " + words + " words, " + counts.size() + " different, checksum " + checksum;
        }
    }

    static final class Worker extends Thread {
        private final Site site;
        private final Frontier frontier;
        private final Index index;

        Worker(int number, Site site, Frontier frontier, Index index) {
            super("crawler-" + number);
            this.site = site;
            this.frontier = frontier;
            this.index = index;
        }

        @Override
        public void run() {
            Parser parser = new Parser();
            try {
                for (Integer address = frontier.take(); address != null; address = frontier.take()) {
                    Page page = site.fetch(address);
                    parser.parse(page);
                    frontier.offer(parser.links);
                    index.add(page, parser.counts);
                    frontier.done();
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 20;
        int threads = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        Site site = new Site(size * 1000);
        Frontier frontier = new Frontier();
        Index index = new Index();
        frontier.offer(List.of(0, 1, 2, 3));
        Worker[] workers = new Worker[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Worker(i, site, frontier, index);
            workers[i].start();
        }
        for (Worker worker : workers) {
            worker.join();
        }
        System.out.println("crawler " + size + ": " + index.summary());
    }
}
