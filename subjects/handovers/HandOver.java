/* silent
 * Ways to hand work over and to get its result back, one a method. Whoever checks has waited for all who filled:
 * order proves it, so nothing may even be predicted.
 */
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

public class HandOver {
    static class Box {
        int v;
    }

    static final Box[] b = {new Box(), new Box(), new Box(), new Box()};

    static void fill(int i) {
        b[i].v = i + 1;
    }

    static void fillAll() {
        for (int i = 0; i < b.length; i++) fill(i);
    }

    static void check() {
        int sum = 0;
        for (Box box : b) sum += box.v;
        System.out.println(sum);
    }

    interface Work {
        void run() throws Exception;
    }

    static Thread start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        thread.start();
        return thread;
    }

    static Runnable task(int i) {
        return () -> fill(i);
    }

    enum Lazy {
        GET;

        final int x = 7;

        int v() {
            return x;
        }
    }

    /** Synchronisers of the program's own. */
    static class Gate extends AbstractQueuedSynchronizer {
        @Override protected int tryAcquireShared(int ignored) {
            return getState() != 0 ? 1 : -1;
        }

        @Override protected boolean tryReleaseShared(int ignored) {
            setState(1);
            return true;
        }
    }

    static class Mutex extends AbstractQueuedSynchronizer {
        @Override protected boolean tryAcquire(int ignored) {
            return compareAndSetState(0, 1);
        }

        @Override protected boolean tryRelease(int ignored) {
            setState(0);
            return true;
        }
    }

    /** The worker is there already, so no start orders it after what was done before. */
    static void forkJoinAgain() throws Exception {
        var pool = new ForkJoinPool(1);
        for (int i = 0; i < 2 * b.length; i++) {
            Box box = b[i % b.length];
            box.v++;
            var done = new CountDownLatch(1);
            Runnable work = () -> {
                box.v++;
                done.countDown();
            };
            if (i % 2 == 0) pool.execute(work);
            else pool.submit(work);
            done.await();
        }
        check();
        pool.shutdown();
    }

    static void ownGate() throws Exception {
        Gate gate = new Gate();
        Thread thread = start(() -> {
            fillAll();
            gate.releaseShared(1);
        });
        gate.acquireShared(1);
        check();
        thread.join();
    }

    static void ownMutex() throws Exception {
        Mutex mutex = new Mutex();
        Work work = () -> {
            mutex.acquire(1);
            b[0].v++;
            mutex.release(1);
        };
        Thread thread = start(work);
        work.run();
        thread.join();
        check();
    }

    static void clones() throws Exception {
        BitSet bits = new BitSet();
        bits.set(3);
        var list = new ArrayList<>(List.of(1));
        var map = new HashMap<>(Map.of(1, 1));
        // A clone asks its original for this, which makes it when first asked.
        map.entrySet();
        Work copies = () -> {
            ((BitSet) bits.clone()).set(70);
            ((ArrayList<?>) list.clone()).remove(0);
            ((HashMap<?, ?>) map.clone()).remove(1);
        };
        Thread[] threads = {start(copies), start(copies)};
        for (Thread thread : threads) thread.join();
        System.out.println(bits.cardinality() + list.size() + map.size());
    }

    static void tryLock() throws Exception {
        ReentrantLock one = new ReentrantLock(), two = new ReentrantLock();
        Thread tries = start(() -> {
            one.lock();
            if (two.tryLock()) two.unlock();
            one.unlock();
        });
        Thread waits = start(() -> {
            Thread.sleep(50);
            two.lock();
            one.lock();
            one.unlock();
            two.unlock();
        });
        tries.join();
        waits.join();
    }

    static void selector() throws Exception {
        try (Selector selector = Selector.open()) {
            start(() -> {
                fillAll();
                selector.wakeup();
            });
            selector.select();
            check();
        }
    }

    static void awaitTermination() throws Exception {
        var p = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 4; i++) p.execute(task(i));
        p.shutdown();
        p.awaitTermination(9, TimeUnit.SECONDS);
        check();
    }

    static void pollTerminated() throws Exception {
        var p = Executors.newFixedThreadPool(2);
        for (int i = 0; i < 4; i++) p.execute(task(i));
        p.shutdown();
        while (!p.isTerminated()) Thread.sleep(2);
        check();
    }

    static void cached() throws Exception {
        var p = Executors.newCachedThreadPool();
        for (int i = 0; i < 4; i++) p.submit(task(i));
        p.shutdown();
        p.awaitTermination(9, TimeUnit.SECONDS);
        check();
    }

    static void single() throws Exception {
        var p = Executors.newSingleThreadExecutor();
        for (int i = 0; i < 4; i++) p.submit(task(i));
        p.shutdown();
        p.awaitTermination(9, TimeUnit.SECONDS);
        check();
    }

    static void scheduled() throws Exception {
        var p = Executors.newScheduledThreadPool(2);
        for (int i = 0; i < 4; i++) p.schedule(task(i), 1, TimeUnit.MILLISECONDS);
        p.shutdown();
        p.awaitTermination(9, TimeUnit.SECONDS);
        check();
    }

    static void stealing() throws Exception {
        var p = Executors.newWorkStealingPool(2);
        for (int i = 0; i < 4; i++) p.execute(task(i));
        p.shutdown();
        p.awaitTermination(9, TimeUnit.SECONDS);
        check();
    }

    static void quiescence() throws Exception {
        var p = new ForkJoinPool(2);
        for (int i = 0; i < 4; i++) p.execute(task(i));
        p.awaitQuiescence(9, TimeUnit.SECONDS);
        check();
    }

    static void commonQuiescence() throws Exception {
        var p = ForkJoinPool.commonPool();
        for (int i = 0; i < 4; i++) p.execute(task(i));
        p.awaitQuiescence(9, TimeUnit.SECONDS);
        check();
    }

    static void invokeAll() throws Exception {
        var p = Executors.newFixedThreadPool(2);
        List<Callable<Object>> l = new ArrayList<>();
        for (int i = 0; i < 4; i++) l.add(Executors.callable(task(i)));
        p.invokeAll(l);
        p.shutdown();
        check();
    }

    static void fjInvokeAll() throws Exception {
        var p = new ForkJoinPool(2);
        List<Callable<Object>> l = new ArrayList<>();
        for (int i = 0; i < 4; i++) l.add(Executors.callable(task(i)));
        p.invokeAll(l);
        p.shutdown();
        check();
    }

    static void invokeAny() throws Exception {
        var p = Executors.newFixedThreadPool(2);
        fill(1);
        fill(2);
        fill(3);
        p.invokeAny(List.of(Executors.callable(task(0))));
        p.shutdown();
        check();
    }

    static void completion() throws Exception {
        var p = Executors.newFixedThreadPool(2);
        var c = new ExecutorCompletionService<Integer>(p);
        for (int i = 0; i < 4; i++) c.submit(task(i), i);
        for (int i = 0; i < 4; i++) c.take().get();
        p.shutdown();
        check();
    }

    static void completionPoll() throws Exception {
        var p = Executors.newFixedThreadPool(2);
        var c = new ExecutorCompletionService<Integer>(p);
        for (int i = 0; i < 4; i++) c.submit(task(i), i);
        for (int i = 0; i < 4; i++) c.take();
        p.shutdown();
        check();
    }

    static void stream() throws Exception {
        IntStream.range(0, 4).parallel().forEach(HandOver::fill);
        check();
    }

    static void streamCollect() throws Exception {
        var l = IntStream.range(0, 4).boxed().collect(Collectors.toList());
        l.parallelStream().map(i -> { fill(i); return i; }).collect(Collectors.toList());
        check();
    }

    static void arrayParallel() throws Exception {
        int[] x = new int[20000];
        Arrays.parallelSetAll(x, i -> 20000 - i);
        Arrays.parallelSort(x);
        fillAll();
        check();
    }

    static void allOf() throws Exception {
        var parts = IntStream.range(0, 4).mapToObj(i -> CompletableFuture.runAsync(task(i)));
        CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new)).join();
        check();
    }

    static void chain() throws Exception {
        CompletableFuture.runAsync(task(0)).thenRunAsync(task(1)).thenRun(task(2)).thenRunAsync(task(3)).get();
        check();
    }

    static void combine() throws Exception {
        var one = CompletableFuture.runAsync(task(0));
        var two = CompletableFuture.runAsync(task(1));
        one.thenCombineAsync(two, (x, y) -> {
            check();
            fill(2);
            fill(3);
            return 1;
        }).join();
        check();
    }

    static void complete() throws Exception {
        var f = new CompletableFuture<Integer>();
        new Thread(() -> { fillAll(); f.complete(1); }).start();
        f.get();
        check();
    }

    static void exceptionally() throws Exception {
        CompletableFuture.runAsync(() -> {
            fillAll();
            throw new IllegalStateException();
        }).exceptionally(e -> null).join();
        check();
    }

    static void orTimeout() throws Exception {
        CompletableFuture.runAsync(HandOver::fillAll).orTimeout(9, TimeUnit.SECONDS).join();
        check();
    }

    static void recursive() throws Exception {
        new ForkJoinPool(2).invoke(new RecursiveAction() {
            protected void compute() {
                var parts = IntStream.range(0, 4).mapToObj(i -> ForkJoinTask.adapt(task(i)));
                invokeAll(parts.toArray(ForkJoinTask[]::new));
            }
        });
        check();
    }

    static void forkJoin() throws Exception {
        var t = new RecursiveTask<Integer>() {
            protected Integer compute() {
                var parts = new ArrayList<ForkJoinTask<?>>();
                for (int i = 0; i < 4; i++) parts.add(ForkJoinTask.adapt(task(i)).fork());
                parts.forEach(ForkJoinTask::join);
                return 1;
            }
        };
        ForkJoinPool.commonPool().submit(t).get();
        check();
    }

    static void counted() throws Exception {
        class Part extends CountedCompleter<Void> {
            final int low, high;

            Part(CountedCompleter<?> whole, int low, int high) {
                super(whole);
                this.low = low;
                this.high = high;
            }

            public void compute() {
                int middle = (low + high) / 2;
                if (high - low > 1) {
                    setPendingCount(2);
                    new Part(this, low, middle).fork();
                    new Part(this, middle, high).fork();
                } else {
                    fill(low);
                }
                tryComplete();
            }
        }
        new Part(null, 0, 4).invoke();
        check();
    }

    static void join() throws Exception {
        var l = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) { var t = new Thread(task(i)); t.start(); l.add(t); }
        for (var t : l) t.join();
        check();
    }

    static void timedJoin() throws Exception {
        var l = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) { var t = new Thread(task(i)); t.start(); l.add(t); }
        for (var t : l) t.join(9000);
        check();
    }

    static void isAlive() throws Exception {
        var l = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) { var t = new Thread(task(i)); t.start(); l.add(t); }
        for (var t : l) while (t.isAlive()) Thread.sleep(1);
        check();
    }

    static void getState() throws Exception {
        var l = new ArrayList<Thread>();
        for (int i = 0; i < 4; i++) { var t = new Thread(task(i)); t.start(); l.add(t); }
        for (var t : l) while (t.getState() != Thread.State.TERMINATED) Thread.sleep(1);
        check();
    }

    static void latch() throws Exception {
        var l = new CountDownLatch(4);
        for (int i = 0; i < 4; i++) { int k = i; new Thread(() -> { fill(k); l.countDown(); }).start(); }
        l.await();
        check();
    }

    static void phaser() throws Exception {
        var ph = new Phaser(5);
        for (int i = 0; i < 4; i++) { int k = i; new Thread(() -> { fill(k); ph.arriveAndDeregister(); }).start(); }
        ph.arriveAndAwaitAdvance();
        check();
    }

    static void phaserAwait() throws Exception {
        var ph = new Phaser(4);
        for (int i = 0; i < 4; i++) { int k = i; new Thread(() -> { fill(k); ph.arrive(); }).start(); }
        ph.awaitAdvance(0);
        check();
    }

    static void barrier() throws Exception {
        var ph = new CyclicBarrier(5);
        for (int i = 0; i < 4; i++) {
            int k = i;
            start(() -> {
                fill(k);
                ph.await();
            });
        }
        ph.await();
        check();
    }

    static void semaphore() throws Exception {
        var s = new Semaphore(0);
        for (int i = 0; i < 4; i++) { int k = i; new Thread(() -> { fill(k); s.release(); }).start(); }
        s.acquire(4);
        check();
    }

    static void syncQueue() throws Exception {
        var q = new SynchronousQueue<Integer>();
        for (int i = 0; i < 4; i++) {
            int k = i;
            start(() -> {
                fill(k);
                q.put(k);
            });
        }
        for (int i = 0; i < 4; i++) q.take();
        check();
    }

    static void exchanger() throws Exception {
        var x = new Exchanger<Integer>();
        start(() -> {
            fillAll();
            x.exchange(1);
        });
        x.exchange(2);
        check();
    }

    static void timer() throws Exception {
        var t = new Timer(true);
        var l = new CountDownLatch(1);
        t.schedule(new TimerTask() { public void run() { fillAll(); l.countDown(); } }, 1);
        l.await();
        t.cancel();
        check();
    }

    static void park() throws Exception {
        var m = Thread.currentThread();
        var done = new AtomicBoolean();
        new Thread(() -> { fillAll(); done.set(true); LockSupport.unpark(m); }).start();
        while (!done.get()) LockSupport.park();
        check();
    }

    static void interrupt() throws Exception {
        var m = Thread.currentThread();
        new Thread(() -> { fillAll(); m.interrupt(); }).start();
        try { Thread.sleep(9000); } catch (InterruptedException e) { }
        check();
    }

    static void uncaught() throws Exception {
        var done = new CountDownLatch(1);
        var t = new Thread(() -> { fillAll(); throw new IllegalStateException(); });
        t.setUncaughtExceptionHandler((x, e) -> done.countDown());
        t.start();
        done.await();
        check();
    }

    static void threadLocal() throws Exception {
        ThreadLocal<int[]> l = ThreadLocal.withInitial(() -> new int[1]);
        Thread[] t = new Thread[2];
        for (int i = 0; i < 2; i++) { t[i] = new Thread(() -> l.get()[0]++); t[i].start(); }
        for (var x : t) x.join();
        fillAll();
        check();
    }

    static void submittedTask() throws Exception {
        var p = Executors.newSingleThreadExecutor();
        fill(0);
        fill(1);
        fill(2);
        fill(3);
        p.submit(() -> check()).get();
        p.shutdown();
    }

    static void publisher() throws Exception {
        var l = new CountDownLatch(1);
        try (var p = new SubmissionPublisher<Box>()) {
            p.consume(x -> {
                if (x.v == 4) l.countDown();
            });
            for (int i = 0; i < 4; i++) {
                fill(i);
                p.submit(b[i]);
            }
        }
        l.await();
        check();
    }

    static void enumInitialised() throws Exception {
        Thread[] t = new Thread[2];
        for (int i = 0; i < 2; i++) { t[i] = new Thread(() -> Lazy.GET.v()); t[i].start(); }
        for (var x : t) x.join();
        fillAll();
        check();
    }

    static void pipe() throws Exception {
        var p = new PipedInputStream();
        var o = new PipedOutputStream(p);
        start(() -> {
            fillAll();
            o.write(1);
            o.close();
        });
        p.read();
        check();
    }

    static void computeIfAbsent() throws Exception {
        var m = new ConcurrentHashMap<String, Box>();
        Thread[] t = new Thread[2];
        for (int i = 0; i < 2; i++) {
            t[i] = start(() -> {
                Box x = m.computeIfAbsent("a", k -> {
                    Box n = new Box();
                    n.v = 5;
                    return n;
                });
                if (x.v != 5) throw new Error();
            });
        }
        for (var x : t) x.join();
        fillAll();
        check();
    }

    static void accumulator() throws Exception {
        var ad = new LongAdder();
        Thread[] t = new Thread[2];
        for (int i = 0; i < 2; i++) { t[i] = new Thread(ad::increment); t[i].start(); }
        for (var x : t) x.join();
        System.out.println(ad.sum());
        fillAll();
        check();
    }

    static void futureState() throws Exception {
        var p = Executors.newSingleThreadExecutor();
        var f = p.submit(() -> { fillAll(); });
        while (!f.isDone()) Thread.sleep(1);
        p.shutdown();
        check();
    }

    static class Late {
        static int size = b.length;

        static {
            fillAll();
        }
    }

    /** A class that another thread initialises while this one holds a lock. */
    static void initialisedInside() throws Exception {
        var held = new CountDownLatch(1);
        var t = start(() -> {
            held.await();
            Thread.sleep(50);
            b[0].v = Late.size;
        });
        synchronized (b) {
            held.countDown();
            Thread.sleep(300);
            int sum = 0;
            for (int i = 0; i < Late.size; i++) sum += b[Late.size - 1].v;
            System.out.println(sum);
        }
        t.join();
        check();
    }

    static void shutdownHook() throws Exception {
        Runtime.getRuntime().addShutdownHook(new Thread(HandOver::check));
        fillAll();
    }

    /** A flag that the thread that sets it has had for itself so far: the other one comes to it afterwards. */
    static class Flag {
        static volatile boolean any;
        static final VarHandle SET;
        static final AtomicIntegerFieldUpdater<Flag> COUNT = AtomicIntegerFieldUpdater.newUpdater(Flag.class, "count");

        static {
            try {
                SET = MethodHandles.lookup().findVarHandle(Flag.class, "set", boolean.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        volatile boolean raised;
        volatile int count;
        boolean set;
    }

    static void late(Work raise, Callable<Boolean> raised) throws Exception {
        var seen = new CountDownLatch(1);
        var t = start(() -> {
            check();
            seen.countDown();
            Thread.sleep(200);
            while (!raised.call()) Thread.onSpinWait();
            check();
        });
        seen.await();
        fillAll();
        raise.run();
        t.join();
    }

    static void lateVolatile() throws Exception {
        var flag = new Flag();
        late(() -> flag.raised = true, () -> flag.raised);
    }

    /** Other writes to what the thread has for itself come before. */
    static void lateVolatileAfterOthers() throws Exception {
        var flag = new Flag();
        late(() -> {
            for (int i = 0; i < 100; i++) {
                fill(i % b.length);
                flag.count = i;
                flag.count = i + 1;
            }
            flag.raised = true;
        }, () -> flag.raised);
    }

    static void lateStatic() throws Exception {
        Flag.any = false;
        late(() -> Flag.any = true, () -> Flag.any);
    }

    static void lateAtomic() throws Exception {
        var flag = new AtomicBoolean();
        late(() -> flag.set(true), flag::get);
    }

    static void lateCompareAndSet() throws Exception {
        var flag = new AtomicReference<String>();
        late(() -> flag.compareAndSet(null, "up"), () -> flag.get() != null);
    }

    static void lateCount() throws Exception {
        var count = new AtomicInteger();
        late(() -> count.incrementAndGet(), () -> count.get() == 1);
    }

    static void lateArray() throws Exception {
        var flags = new AtomicIntegerArray(4);
        late(() -> flags.set(2, 1), () -> flags.get(2) == 1);
    }

    static void lateHandle() throws Exception {
        var flag = new Flag();
        late(() -> Flag.SET.setRelease(flag, true), () -> (boolean) Flag.SET.getAcquire(flag));
    }

    static void lateUpdater() throws Exception {
        var flag = new Flag();
        late(() -> Flag.COUNT.incrementAndGet(flag), () -> flag.count == 1);
    }

    static void lateMap() throws Exception {
        var flags = new ConcurrentHashMap<String, String>();
        late(() -> flags.put("raised", "yes"), () -> flags.containsKey("raised"));
    }

    static void lateQueue() throws Exception {
        var queue = new ConcurrentLinkedQueue<String>();
        late(() -> queue.add("raised"), () -> !queue.isEmpty());
    }

    static void lateList() throws Exception {
        var list = new CopyOnWriteArrayList<String>();
        late(() -> list.add("raised"), () -> list.size() == 1);
    }

    static void lateAdder() throws Exception {
        var adder = new LongAdder();
        late(adder::increment, () -> adder.sum() == 1);
    }

    public static void main(String[] args) throws Exception {
        HandOver.class.getDeclaredMethod(args[0]).invoke(null);
    }
}
