/*
 * Two allocation-heavy jobs in turn: binary trees built, searched and thrown away by every thread, and a merge sort of an
 * array of records that splits over a fork-join pool.
 *
 * Arguments: size (thousands of records, default 1000), threads (default 2).
 */
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RecursiveAction;

public class TreeSort {
    static final class Node {
        final int key;
        Node left;
        Node right;
        int uses;

        Node(int key) {
            this.key = key;
        }
    }

    /** A search tree without balancing; the keys come in random order. */
    static final class Tree {
        private Node root;
        private int size;

        boolean add(int key) {
            if (root == null) {
                root = new Node(key);
                size = 1;
                return true;
            }
            Node node = root;
            while (true) {
                if (key == node.key) {
                    node.uses++;
                    return false;
                }
                Node next = key < node.key ? node.left : node.right;
                if (next == null) {
                    Node added = new Node(key);
                    if (key < node.key) {
                        node.left = added;
                    } else {
                        node.right = added;
                    }
                    size++;
                    return true;
                }
                node = next;
            }
        }

        int depth() {
            return depth(root);
        }

        private static int depth(Node node) {
            return node == null ? 0 : 1 + Math.max(depth(node.left), depth(node.right));
        }

        long sum() {
            return sum(root);
        }

        private static long sum(Node node) {
            return node == null ? 0 : node.key + node.uses + sum(node.left) + sum(node.right);
        }
    }

    static final class Totals {
        private long sum;
        private int deepest;

        synchronized void add(Tree tree) {
            sum += tree.sum() + tree.size;
            deepest = Math.max(deepest, tree.depth());
        }
    }

    static final class Item {
        final int key;
        final int number;

        Item(int key, int number) {
            this.key = key;
            this.number = number;
        }
    }

    static final class MergeSort extends RecursiveAction {
        private static final long serialVersionUID = 1;
        private static final int SMALL = 1000;
        private final transient Item[] items;
        private final transient Item[] spare;
        private final int from;
        private final int to;

        MergeSort(Item[] items, Item[] spare, int from, int to) {
            this.items = items;
            this.spare = spare;
            this.from = from;
            this.to = to;
        }

        @Override
        protected void compute() {
            if (to - from <= SMALL) {
                sort(from, to);
                return;
            }
            int middle = (from + to) >>> 1;
            invokeAll(new MergeSort(items, spare, from, middle), new MergeSort(items, spare, middle, to));
            merge(from, middle, to);
        }

        private void sort(int from, int to) {
            if (to - from < 12) {
                for (int i = from + 1; i < to; i++) {
                    Item item = items[i];
                    int j = i;
                    for (; j > from && items[j - 1].key > item.key; j--) {
                        items[j] = items[j - 1];
                    }
                    items[j] = item;
                }
                return;
            }
            int middle = (from + to) >>> 1;
            sort(from, middle);
            sort(middle, to);
            merge(from, middle, to);
        }

        private void merge(int from, int middle, int to) {
            for (int i = from; i < to; i++) {
                spare[i] = items[i];
            }
            int left = from;
            int right = middle;
            for (int i = from; i < to; i++) {
                if (right >= to || left < middle && spare[left].key <= spare[right].key) {
                    items[i] = spare[left++];
                } else {
                    items[i] = spare[right++];
                }
            }
        }
    }

    static void trees(int rounds, int seed, Totals totals) {
        Random random = new Random(seed);
        for (int round = 0; round < rounds; round++) {
            Tree tree = new Tree();
            for (int i = 0; i < 2000; i++) {
                tree.add(random.nextInt(4000));
            }
            totals.add(tree);
        }
    }

    public static void main(String[] args) throws InterruptedException, ExecutionException {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 1000;
        int threads = args.length > 1 ? Integer.parseInt(args[1]) : 2;

        Totals totals = new Totals();
        Thread[] workers = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            int seed = i;
            workers[i] = new Thread(() -> trees(3 * size / threads, seed, totals), "trees-" + i);
            workers[i].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }

        Random random = new Random(99);
        Item[] items = new Item[size * 1000];
        for (int i = 0; i < items.length; i++) {
            items[i] = new Item(random.nextInt(), i);
        }
        ForkJoinPool pool = new ForkJoinPool(threads);
        pool.submit(new MergeSort(items, new Item[items.length], 0, items.length)).get();
        pool.shutdown();
        long check = 0;
        for (int i = 1; i < items.length; i++) {
            Item before = items[i - 1];
            Item item = items[i];
            if (before.key > item.key || before.key == item.key && before.number > item.number) {
                throw new AssertionError("not sorted at " + i);
            }
            check = check * 31 + item.number;
        }
        System.out.println("tree and sort " + size + ": trees " + totals.sum + " deep " + totals.deepest + ", sort "
                + Long.toHexString(check));
    }
}
