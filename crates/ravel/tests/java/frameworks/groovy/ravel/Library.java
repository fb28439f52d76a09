package groovy.ravel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** A library in a package of a framework, which is not recorded. Each class hands an item over, in a way that real libraries use. */
public class Library {
    public interface Slot {
        void put(Object item);

        /** Waits for the item. */
        Object take();
    }

    public static class VolatileField implements Slot {
        protected volatile Object item;
        volatile long count;

        public void put(Object item) {
            this.item = item;
            count = 1;
        }

        public Object take() {
            while (item == null || count == 0) Thread.onSpinWait();
            return item;
        }
    }

    /** The field is declared by a class that is loaded later than this one is read. */
    public static class InheritedField extends VolatileField {
        @Override public void put(Object item) {
            this.item = item;
        }

        @Override public Object take() {
            while (this.item == null) Thread.onSpinWait();
            return this.item;
        }
    }

    public static class NestedField implements Slot {
        static class Node {
            volatile Object item;
        }

        private final Node node = new Node();

        public void put(Object item) {
            node.item = item;
        }

        public Object take() {
            while (node.item == null) Thread.onSpinWait();
            return node.item;
        }
    }

    public static class StaticField implements Slot {
        private static volatile Object item;

        public void put(Object it) {
            item = it;
        }

        public Object take() {
            while (item == null) Thread.onSpinWait();
            return item;
        }
    }

    public static class Monitor implements Slot {
        private final Object lock = new Object();
        private Object item;

        public void put(Object item) {
            synchronized (lock) {
                this.item = item;
                lock.notifyAll();
            }
        }

        public Object take() {
            synchronized (lock) {
                try {
                    while (item == null) lock.wait(10_000);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
                return item;
            }
        }
    }

    public static class SynchronizedMethods implements Slot {
        private Object item;

        public synchronized void put(Object item) {
            this.item = item;
        }

        private synchronized Object get() {
            return item;
        }

        public Object take() {
            while (get() == null) Thread.onSpinWait();
            return get();
        }
    }

    /** As Scala's promises. */
    public static class Promise extends AtomicReference<Object> implements Slot {
        public void put(Object item) {
            if (!compareAndSet(null, item)) throw new IllegalStateException();
        }

        public Object take() {
            while (get() == null) Thread.onSpinWait();
            return get();
        }
    }

    /** As Kotlin's coroutines: written by an updater, read as a field. */
    public static class Updater implements Slot {
        private static final AtomicReferenceFieldUpdater<Updater, Object> ITEM =
                AtomicReferenceFieldUpdater.newUpdater(Updater.class, Object.class, "item");
        private static final AtomicIntegerFieldUpdater<Updater> COUNT = AtomicIntegerFieldUpdater.newUpdater(Updater.class, "count");
        private volatile Object item;
        private volatile int count;

        public void put(Object item) {
            if (!ITEM.compareAndSet(this, null, item)) throw new IllegalStateException();
            COUNT.incrementAndGet(this);
        }

        public Object take() {
            while (count == 0) Thread.onSpinWait();
            return item;
        }
    }

    public static class Handle implements Slot {
        private static final VarHandle ITEM;

        static {
            try {
                ITEM = MethodHandles.lookup().findVarHandle(Handle.class, "item", Object.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        private Object item;

        public void put(Object item) {
            ITEM.setRelease(this, item);
        }

        public Object take() {
            Object seen;
            while ((seen = ITEM.getAcquire(this)) == null) Thread.onSpinWait();
            return seen;
        }
    }

    public static class Locked implements Slot {
        private final ReentrantLock lock = new ReentrantLock();
        private Object item;

        public void put(Object item) {
            lock.lock();
            try {
                this.item = item;
            } finally {
                lock.unlock();
            }
        }

        public Object take() {
            while (true) {
                lock.lock();
                try {
                    if (item != null) return item;
                } finally {
                    lock.unlock();
                }
                Thread.onSpinWait();
            }
        }
    }

    /** As Scala's Await: a synchroniser of its own. */
    public static class Latch extends AbstractQueuedSynchronizer implements Slot {
        private Object item;

        @Override protected int tryAcquireShared(int ignored) {
            return getState() != 0 ? 1 : -1;
        }

        @Override protected boolean tryReleaseShared(int ignored) {
            setState(1);
            return true;
        }

        public void put(Object item) {
            this.item = item;
            releaseShared(1);
        }

        public Object take() {
            acquireShared(1);
            return item;
        }
    }

    public static class Parked implements Slot {
        private volatile Thread waiter;
        private volatile Object item;

        public void put(Object item) {
            this.item = item;
            LockSupport.unpark(waiter);
        }

        public Object take() {
            waiter = Thread.currentThread();
            while (item == null) LockSupport.park(this);
            return item;
        }
    }

    /** A pool with a queue of its own: nothing of the program is on the stack of its worker between two tasks. */
    public static class Pool extends Thread {
        private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
        private int done;

        public Pool() {
            super("pool");
            setDaemon(true);
        }

        public synchronized void submit(Runnable task) {
            tasks.add(task);
            notifyAll();
        }

        public synchronized void await(int count) throws InterruptedException {
            while (done < count) wait();
        }

        private synchronized Runnable next() throws InterruptedException {
            while (tasks.isEmpty()) wait();
            return tasks.remove();
        }

        private synchronized void finished() {
            done++;
            notifyAll();
        }

        @Override public void run() {
            try {
                while (true) {
                    next().run();
                    finished();
                }
            } catch (InterruptedException e) {
                interrupt();
            }
        }
    }
}
