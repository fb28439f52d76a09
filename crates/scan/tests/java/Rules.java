import java.util.concurrent.locks.*;
import java.util.function.*;

@interface GuardedBy { String value(); }
@interface NotThreadSafe {}
@interface ThreadSafe {}

class Cell {
  int value;
  synchronized int get() { return value; }
  synchronized void set(int v) { value = v; }
}

@NotThreadSafe
class Unshared {
  int value;
  synchronized int get() { return value; }
}

@ThreadSafe
class SharedAfterAll extends Unshared {
  synchronized void set(int v) { value = v; }
}

class LockPatternBad {
  synchronized void threadSafe(SharedAfterAll s) { s.set(1); s.set(2); }
  final Cell cell = new Cell();
  final ReentrantLock lock = new ReentrantLock();
  final ReadWriteLock rw = new ReentrantReadWriteLock();
  synchronized void field() { cell.set(cell.get() + 1); }
  void explicitContext() {
    lock.lock();
    try { cell.set(cell.get() + 1); } finally { lock.unlock(); }
  }
  synchronized void explicitWitness(LockPatternBad other) {
    final ReentrantLock l = other.lock;
    l.lock();
    try { other.cell.value++; } finally { l.unlock(); }
    l.lock();
    try { other.cell.value++; } finally { l.unlock(); }
  }
  synchronized void tried(LockPatternBad other) {
    if (other.lock.tryLock()) {
      try { other.cell.value++; } finally { other.lock.unlock(); }
    }
    if (other.lock.tryLock()) {
      try { other.cell.value++; } finally { other.lock.unlock(); }
    }
  }
  synchronized void readWrite(LockPatternBad other) {
    int v;
    other.rw.readLock().lock();
    try { v = other.cell.value; } finally { other.rw.readLock().unlock(); }
    other.rw.writeLock().lock();
    try { other.cell.value = v + 1; } finally { other.rw.writeLock().unlock(); }
  }
  static synchronized void classLock(Cell c) { c.set(c.get() + 1); }
  synchronized void thrown(Cell c) {
    try { c.get(); throw new RuntimeException(); }
    catch (RuntimeException e) { c.set(0); }
  }
  synchronized void forever(Cell c) { while (true) c.set(c.get() + 1); }
  void unknownContext(Supplier<Object> s, Cell c) {
    synchronized (s.get()) { c.set(c.get() + 1); }
  }
  synchronized void lambda(Cell c) {
    IntSupplier s = () -> 1;
    UnaryOperator<Cell> twice = x -> { x.get(); x.set(1); return x; };
    twice.apply(c);
  }
  synchronized void recursive(Cell c, int n) { if (n > 0) { bounce(c, n); bounce(c, n); } }
  void bounce(Cell c, int n) { if (n == 7) c.get(); else recursive2(c, n); }
  void recursive2(Cell c, int n) { bounce(c, n - 1); }
  synchronized void madeAndShared(java.util.List<Cell> list) {
    Cell c = new Cell();
    list.add(c);
    c.set(c.get() + 1);
  }
  class Inner {
    void inner(Cell c) { synchronized (LockPatternBad.this) { c.set(c.get() + 1); } }
  }
}

class HalvesBad {
  final ReentrantReadWriteLock one = new ReentrantReadWriteLock(), other = new ReentrantReadWriteLock();
  Lock read = one.readLock(), write = one.writeLock();
  void swap() { read = other.readLock(); }
  void moved() {
    write.lock();
    try { use(); use(); } finally { write.unlock(); }
  }
  private void use() {
    read.lock();
    try { hashCode(); } finally { read.unlock(); }
  }
}

class LockPatternOk {
  final Cell cell = new Cell();
  @GuardedBy("this") final Cell mine = new Cell();
  final ReentrantLock lock = new ReentrantLock();
  void noContext() { cell.set(cell.get() + 1); }
  synchronized void once() { cell.get(); }
  synchronized void own() { plus(); plus(); }
  synchronized void plus() {}
  void unknownWitness(Supplier<Cell> s) { synchronized (this) { s.get().get(); s.get().set(1); } }
  void fixed() {
    synchronized (this) { synchronized (cell) { cell.set(cell.get() + 1); } }
  }
  synchronized void reassigned(Cell c, Cell d) { c.get(); c = d; c.get(); }
  synchronized void madeHere() { Cell c = new Cell(); c.set(c.get() + 1); }
  synchronized void annotated() { mine.set(mine.get() + 1); }
  synchronized void unshared(Unshared u) { u.get(); u.get(); }
  synchronized void buffer(StringBuffer b) { b.append(1); b.append(2); }
  void released(Cell c) {
    lock.lock();
    try { c.get(); } finally { lock.unlock(); }
    c.get();
  }
  final ReentrantReadWriteLock whole = new ReentrantReadWriteLock();
  final Lock readHalf = whole.readLock(), writeHalf = whole.writeLock();
  void halves() {
    writeHalf.lock();
    try { readHalves(); readHalves(); } finally { writeHalf.unlock(); }
  }
  private void readHalves() {
    readHalf.lock();
    try { hashCode(); } finally { readHalf.unlock(); }
  }
  Lock readOpen = whole.readLock(), writeOpen = whole.writeLock();
  void openHalves() {
    writeOpen.lock();
    try { readOpenHalves(); readOpenHalves(); } finally { writeOpen.unlock(); }
  }
  private void readOpenHalves() {
    readOpen.lock();
    try { hashCode(); } finally { readOpen.unlock(); }
  }
  synchronized void helpers(LockPatternOk other) { other.takes(); other.takes(); }
  void takes() { lock.lock(); }
  synchronized void either(LockPatternOk other) {
    if (other.lock.tryLock()) {
      try { other.cell.value++; } finally { other.lock.unlock(); }
    } else {
      other.lock.lock();
      other.lock.unlock();
    }
  }
}

class OrderBad {
  static final Object A = new Object(), B = new Object();
  void ab() { synchronized (A) { synchronized (B) { hashCode(); } } }
  void ba() { synchronized (B) { takeA(); } }
  void takeA() { synchronized (A) { hashCode(); } }
}

class RingBad {
  static final Object G = new Object(), H = new Object(), I = new Object();
  void gh() { synchronized (G) { synchronized (H) { hashCode(); } } }
  void hi() { synchronized (H) { synchronized (I) { hashCode(); } } }
  void ig() { synchronized (I) { synchronized (G) { hashCode(); } } }
}

class RingOk {
  static final Object J = new Object(), K = new Object(), L = new Object(), GATE = new Object();
  void jk() { synchronized (GATE) { synchronized (J) { synchronized (K) { hashCode(); } } } }
  void kl() { synchronized (K) { synchronized (L) { hashCode(); } } }
  void lj() { synchronized (GATE) { synchronized (L) { synchronized (J) { hashCode(); } } } }
}

class TransferBad {
  int balance;
  synchronized void transfer(TransferBad to) { balance--; to.put(); }
  synchronized void put() { balance++; }
}

class TransferOk {
  static final Object GATE = new Object();
  int balance;
  TransferOk parent;
  void transfer(TransferOk to) { synchronized (GATE) { synchronized (this) { synchronized (to) { balance--; to.balance++; } } } }
  synchronized void up() { balance--; synchronized (parent) { parent.balance++; } }
}

class TriedOk {
  final ReentrantLock m = new ReentrantLock(), n = new ReentrantLock();
  void mn() { m.lock(); try { n.lock(); try { hashCode(); } finally { n.unlock(); } } finally { m.unlock(); } }
  void nm() { n.lock(); try { if (m.tryLock()) { try { hashCode(); } finally { m.unlock(); } } } finally { n.unlock(); } }
}

class InheritedOk extends LockPatternOk {
  void subclass() { synchronized (cell) { superclass(); superclass(); } }
  void superclass() { synchronized (((LockPatternOk) this).cell) { hashCode(); } }
}

class OrderOk {
  static final Object C = new Object(), D = new Object(), GATE = new Object();
  void cd() { synchronized (C) { synchronized (D) { hashCode(); } } }
  void cdToo() { synchronized (C) { synchronized (D) { hashCode(); } } }
  static final Object E = new Object(), F = new Object();
  void ef() { synchronized (GATE) { synchronized (E) { synchronized (F) { hashCode(); } } } }
  void fe() { synchronized (GATE) { synchronized (F) { synchronized (E) { hashCode(); } } } }
}

class GuardBad {
  @GuardedBy("this") int a;
  final Object lock = new Object();
  @GuardedBy("lock") int b;
  @GuardedBy("GuardBad.class") static int c;
  int readA() { return a; }
  synchronized void wrongLock() { b++; }
  static void classless() { c++; }
  private void helper() { a++; }
  synchronized void good() { helper(); }
  void bad() { helper(); }
}

class GuardOk {
  @GuardedBy("items") final java.util.List<Object> items = new java.util.ArrayList<>();
  void add(Object o) { synchronized (items) { items.add(o); } }
  @GuardedBy("this") int a;
  final Object lock = new Object();
  @GuardedBy("lock") int b;
  @GuardedBy("GuardOk.class") static int c;
  @GuardedBy("rw") int d;
  final ReadWriteLock rw = new ReentrantReadWriteLock();
  GuardOk() { a = 1; b = 2; }
  synchronized int readA() { return a; }
  void rightLock() { synchronized (lock) { b++; } }
  static synchronized void classful() { c++; }
  private void helper() { a++; }
  synchronized void good() { helper(); }
  @GuardedBy("this") void promised() { a++; }
  int readD() { rw.readLock().lock(); try { return d; } finally { rw.readLock().unlock(); } }
  static int other(GuardOk o) { synchronized (o) { return o.a; } }
}

class GuardHelped {
  final ReentrantLock lock = new ReentrantLock();
  @GuardedBy("lock") int a;
  private void take() { lock.lock(); }
  private void give() { lock.unlock(); }
  public int get() { take(); try { return a; } finally { give(); } }
  public void add() { take(); try { a++; } finally { give(); } }
  final StampedLock stamped = new StampedLock();
  @GuardedBy("stamped") int b;
  public void stamp() { long s = stamped.writeLock(); try { b++; } finally { stamped.unlockWrite(s); } }
  final Object monitor = new Object();
  @GuardedBy("monitor") int c;
  public void asserts() { assert Thread.holdsLock(monitor); c++; }
  @GuardedBy("monitor") long d;
  private void cancel() { d = Long.MAX_VALUE; }
  private void again(long now, long delay) { cancel(); schedule(now, delay); }
  private void schedule(long now, long delay) { d = now + delay; }
  public void start(long now) { synchronized (monitor) { stop(); schedule(now, 1); } }
  public void stop() { synchronized (monitor) { cancel(); } }
  public void backlog(java.util.Set<Object> all, Object one, boolean more) {
    synchronized (monitor) {
      if (more) all.add(one); else all.remove(one);
      long now = System.nanoTime();
      if (now < d) again(now, 5);
    }
  }
  @GuardedBy("monitor") int e;
  void put() { e++; }
  public void run(GuardHelped other) { synchronized (other.monitor) { other.put(); } }
}

class GuardForTests {
  @GuardedBy("this") int a;
  synchronized void set(int v) { a = v; }
  int peek() { return a; }
}

class Segment extends ReentrantLock {
  @GuardedBy("this") int count;
  int inherited() { lock(); try { return count; } finally { unlock(); } }
}

class CheckedBad {
  Object helper;
  Object get() {
    if (helper == null) { synchronized (this) { if (helper == null) helper = new Object(); } }
    return helper;
  }
  static Object shared;
  static Object copy() {
    Object h = shared;
    if (h == null) { synchronized (CheckedBad.class) { h = shared; if (h == null) shared = h = new Object(); } }
    return h;
  }
}

class CheckedOk {
  volatile Object helper;
  Object other;
  Object get() {
    if (helper == null) { synchronized (this) { if (helper == null) helper = new Object(); } }
    return helper;
  }
  synchronized Object single() { if (other == null) other = new Object(); return other; }
}

class WaitBad {
  boolean done;
  synchronized void once() throws InterruptedException { if (!done) wait(); }
}

class WaitOk {
  boolean done;
  synchronized void loop() throws InterruptedException { while (!done) wait(); }
  synchronized void doLoop() throws InterruptedException { do { wait(); } while (!done); }
}

class NotifyBad {
  boolean done;
  void finish() { done = true; synchronized (this) { notifyAll(); } }
}

class NotifyOk {
  boolean done;
  volatile boolean ready;
  void ready() { ready = true; synchronized (this) { notifyAll(); } }
  void finish() { synchronized (this) { done = true; notifyAll(); } }
  synchronized void branch(boolean b) { if (b) { done = true; } notifyAll(); }
}

class ReassignedBad {
  Object lock = new Object();
  void use() { synchronized (lock) { hashCode(); } }
  void change() { lock = new Object(); }
}

class ReassignedOk {
  Object lock;
  ReassignedOk() { lock = new Object(); }
  void use() { synchronized (lock) { hashCode(); } }
}
