import java.lang.annotation.*;
class Given {
    @Retention(RetentionPolicy.RUNTIME) @interface GuardedBy { String value(); }
    @Retention(RetentionPolicy.RUNTIME) @interface Immutable { }
    @Retention(RetentionPolicy.CLASS) @interface ThreadSafe { }
    static class Kept {
        @GuardedBy("this") int n;
        synchronized void bump() { n++; }
    }
    static class Broken {
        @GuardedBy("lock") int n;
        final Object lock = new Object();
        void bump() { synchronized (lock) { n++; } }
        int peek() { return n; }
    }
    static class Locked {
        @GuardedBy("lock") int n;
        final Object lock = new Object();
        void bump() { synchronized (lock) { n++; } }
    }
    @Immutable static class Pair { int a; Pair(int a) { this.a = a; } int a() { return a; } }
    @Immutable static class Changed { int a; int next() { return ++a; } }
    @ThreadSafe static class Safe { private int n; synchronized int next() { return ++n; } }
    static class Scratch { int used; }
    static int use(Pair pair, Kept kept, Scratch scratch, int[] own, int number) {
        kept.bump();
        scratch.used++;
        own[0]++;
        return pair.a() + number;
    }
    static Pair make(int a) { return new Pair(a); }
    public static void main(String[] args) {
        Kept kept = new Kept(); Broken broken = new Broken(); Locked locked = new Locked();
        Pair pair = make(1); Changed changed = new Changed(); Safe safe = new Safe();
        Runnable body = () -> {
            broken.bump(); broken.peek(); locked.bump(); changed.next(); safe.next();
            use(pair, kept, new Scratch(), new int[1], 2);
        };
        new Thread(body).start();
        body.run();
    }
}
