import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

// The comment after a field is the owner that must be proven, or `race-unsafe`.
class Owners {
    static class Guarded {
        int n; // self
        synchronized void add() { n++; }
        synchronized int get() { return n; }
    }

    static class OneForgotten {
        int n; // race-unsafe
        synchronized void add() { n++; }
        int get() { return n; }
    }

    static class LockField {
        private final Object lock = new Object(); // final
        int n; // lock this.lock
        void add() { synchronized (lock) { n++; } }
        int get() { synchronized (lock) { return n; } }
    }

    static class ChangingLock {
        Object lock = new Object(); // race-unsafe
        int n; // race-unsafe
        void renew() { lock = new Object(); }
        void add() { synchronized (lock) { n++; } }
        int get() { synchronized (lock) { return n; } }
    }

    static class StaticGuard {
        static int n; // lock Owners.StaticGuard.class
        static synchronized void add() { n++; }
        static int get() { synchronized (StaticGuard.class) { return n; } }
    }

    static class Requires {
        int n; // self
        synchronized void add() { step(); }
        void twice() { synchronized (this) { step(); step(); } }
        private void step() { n++; }
    }

    static class RequiresBad {
        int n; // race-unsafe
        synchronized void add() { step(); }
        void twice() { step(); }
        private void step() { n++; }
    }

    static class PassedOn {
        int n; // self
        static void step(PassedOn p) { p.n++; }
        static void work(PassedOn p) { synchronized (p) { step(p); } }
    }

    static class PassedOnBad {
        int n; // race-unsafe
        static void step(PassedOnBad a, PassedOnBad b) { b.n++; }
        static void work(PassedOnBad a, PassedOnBad b) { synchronized (a) { step(a, b); } }
    }

    static class Explicit {
        private final ReentrantLock lock = new ReentrantLock(); // final
        int n; // lock this.lock
        void add() {
            lock.lock();
            try { n++; } finally { lock.unlock(); }
        }
    }

    static class ExplicitEarly {
        private final ReentrantLock lock = new ReentrantLock(); // final
        int n; // race-unsafe
        void add() {
            lock.lock();
            lock.unlock();
            n++;
        }
    }

    static class ExplicitByOther {
        private final ReentrantLock guard = new ReentrantLock(); // final
        int n; // race-unsafe
        void add() {
            guard.lock();
            drop();
            n++;
        }
        private void drop() { guard.unlock(); }
    }

    static class Node {
        int value; // self
        Node next; // race-unsafe
    }

    static class OtherNode {
        int value; // race-unsafe
    }

    /** The lock of the last round is not the object of this one. */
    static void rounds(List<OtherNode> nodes) {
        OtherNode last = nodes.get(0);
        for (OtherNode node : nodes) {
            synchronized (node) {
                last.value++;
                last = node;
            }
        }
    }

    static void walk(Node node) {
        while (node != null) {
            synchronized (node) { node.value++; }
            node = node.next;
        }
    }

    static void link(Node node) { node.next = new Node(); }

    static class Swapped {
        int n; // race-unsafe
        static void work(Swapped a, Swapped b) {
            Swapped held = a;
            synchronized (held) {
                held = b;
                held.n++;
            }
        }
    }

    static class Point {
        int x; // readonly
        int y; // readonly
        Point(int x, int y) { this.x = x; this.y = y; }
        int sum() { return x + y; }
    }

    static class Mutable {
        int x; // race-unsafe
        int y; // readonly
        Mutable(int x) { this.x = x; this.y = x; }
        void move() { x += y; }
    }

    static class Leaky {
        static Leaky last; // race-unsafe
        int x; // race-unsafe
        Leaky() { last = this; x = 1; }
        int get() { return x; }
    }

    static class LeakyAbove extends LeakyBase {
        int z; // race-unsafe
        LeakyAbove() { z = 1; }
        int get() { return z; }
    }

    static class LeakyBase {
        static LeakyBase last; // race-unsafe
        LeakyBase() { last = this; }
    }

    static class Scratch {
        int used; // thisThread
        void use() { used++; }
    }

    static class InStatic {
        static final List<InStatic> ALL = new ArrayList<>(); // final
        int used; // race-unsafe
        void use() { used++; }
    }

    static class InLambda {
        int used; // race-unsafe
        void use() { used++; }
    }

    static class InThread {
        int used; // race-unsafe
        void use() { used++; }
    }

    static class InArray {
        int used; // thisThread
        void use() { used++; }
    }

    static class Thrown extends RuntimeException {
        int used; // race-unsafe
        void use() { used++; }
    }

    static class Finalised {
        int used; // race-unsafe
        void use() { used++; }
        @Override protected void finalize() { used = 0; }
    }

    static class Holder {
        Object held; // race-unsafe
        Held inner; // race-unsafe
    }

    static class Held {
        int used; // race-unsafe
        void use() { used++; }
    }

    static final Holder HOLDER = new Holder(); // final
    static volatile boolean stop; // volatile
    static int settled = 3; // readonly
    static int changed; // race-unsafe

    static class Worker extends Thread {
        final InThread mine; // final
        Worker(InThread mine) { this.mine = mine; }
        @Override public void run() {
            mine.use();
            Scratch scratch = new Scratch();
            scratch.use();
            List<InArray> list = new ArrayList<>();
            list.add(new InArray());
            for (InArray each : list) each.use();
            InArray[] array = {new InArray()};
            array[0].use();
            new Guarded().add();
        }
    }

    static Object cast(Class<?> type, Object object) { return type.cast(object); }

    static class Cast {
        int used; // race-unsafe
        void use() { used++; }
    }

    static Cast published; // race-unsafe

    enum Level {
        LOW, HIGH;
        int uses; // race-unsafe
        static void bump(String name) { Level.valueOf(name).uses++; }
    }

    public static void main(String[] args) throws Exception {
        Guarded guarded = new Guarded();
        InLambda inLambda = new InLambda();
        Point point = new Point(1, 2);
        Mutable mutable = new Mutable(1);
        Thread other = new Thread(() -> {
            guarded.add();
            inLambda.use();
            System.out.println(point.sum() + settled);
            mutable.move();
            HOLDER.inner.use();
            HOLDER.held = new Object();
            changed++;
            published.use();
        });
        Cast hidden = new Cast();
        published = (Cast) cast(Cast.class, hidden);
        hidden.use();
        HOLDER.inner = new Held();
        InStatic inStatic = new InStatic();
        InStatic.ALL.add(inStatic);
        inStatic.use();
        Thrown thrown = new Thrown();
        thrown.use();
        new Finalised().use();
        new Worker(new InThread()).start();
        Node node = new Node();
        HOLDER.held = node;
        walk(node);
        link(node);
        OtherNode one = new OtherNode();
        HOLDER.held = one;
        rounds(List.of(one));
        Swapped swapped = new Swapped();
        HOLDER.held = swapped;
        Swapped.work(new Swapped(), swapped);
        PassedOn passed = new PassedOn();
        HOLDER.held = passed;
        PassedOn.work(passed);
        PassedOnBad bad = new PassedOnBad();
        HOLDER.held = bad;
        PassedOnBad.work(new PassedOnBad(), bad);
        Object[] shared = {
            new OneForgotten(), new LockField(), new ChangingLock(), new Requires(), new RequiresBad(), new Explicit(),
            new ExplicitEarly(), new ExplicitByOther(), new Leaky(), new LeakyAbove(),
        };
        HOLDER.held = shared;
        ((OneForgotten) shared[0]).add();
        ((LockField) shared[1]).add();
        Level.bump(args.length == 0 ? "LOW" : "HIGH");
        stop = true;
        other.start();
        throw thrown;
    }
}
