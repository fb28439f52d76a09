import java.util.*;

// What made findings wrong: methods whose names end in Ok must not be shown, those in Bad must be.

class Registry {
  int n;
  synchronized void enter(Member m) { n++; synchronized (m) { m.n++; } }
}

class Member {
  int n;
  // The object is new: no other thread can hold its lock and want the registry's.
  Member(Registry registry) { synchronized (this) { synchronized (registry) { n = registry.n; } } }
}

class Journal {
  final Object first = new Object(), second = new Object();
  int n;
  void write() { synchronized (first) { synchronized (second) { n++; } } }
  // Only called with the first lock held: it takes the second one alone.
  void flush() { synchronized (first) { backwards(); } }
  void sync() { synchronized (first) { synchronized (second) { backwards(); } } }
  void backwards() { synchronized (second) { synchronized (first) { n--; } } }
}

class Waits {
  boolean done;
  synchronized void handlerOk() throws InterruptedException {
    while (true) {
      try { use(); return; } catch (RuntimeException e) { wait(); }
    }
  }
  void use() { if (!done) throw new IllegalStateException(); }
  synchronized void await() throws InterruptedException { wait(); }
  synchronized void waitForDoneBad() throws InterruptedException { if (!done) wait(); }
}

class Replaced {
  List<String> list = new ArrayList<>();
  List<String> other = new ArrayList<>();
  void clearBad() { synchronized (list) { list = new ArrayList<>(); } }
  void useOk() { synchronized (other) { other.clear(); } }
  void openOk() { other = new ArrayList<>(); }
}

class Naked {
  boolean done;
  void finishOk() { done = true; synchronized (this) { notifyAll(); } }
}

// Databases alone make pointers, each with itself: the pointer's database is the one that is locked.
class Base {
  int rows;
  synchronized Pointer prepare() { return new Pointer(this); }
  synchronized int runOk(Pointer pointer) { int n = pointer.step(); if (n > 0) pointer.reset(n); return n; }
  synchronized int madeOk() { Pointer own = prepare(); int n = own.step(); if (n > 0) own.reset(n); return n; }
}

class Pointer {
  final Base base;
  Pointer(Base base) { this.base = base; }
  int step() { synchronized (base) { return base.rows; } }
  void reset(int n) { synchronized (base) { base.rows = n; } }
}

// Somebody else makes them: it may be any other.
class Ledger {
  int rows;
  synchronized int runBad(Cursor cursor) { int n = cursor.step(); if (n > 0) cursor.reset(n); return n; }
  static Cursor open(Ledger ledger) { return new Cursor(ledger); }
}

class Cursor {
  final Ledger ledger;
  Cursor(Ledger ledger) { this.ledger = ledger; }
  int step() { synchronized (ledger) { return ledger.rows; } }
  void reset(int n) { synchronized (ledger) { ledger.rows = n; } }
}

// Looks without the lock, and again with it before anything rests on the answer.
class Looks {
  private List<String> jobs = new ArrayList<>();
  synchronized void addOk(String job) { jobs.add(job); }
  synchronized void clearOk() { jobs = new ArrayList<>(); }
  synchronized String takeOk() { return jobs.isEmpty() ? null : jobs.remove(0); }
  String pollOk() {
    if (jobs.isEmpty()) return null;
    synchronized (this) { return jobs.isEmpty() ? null : jobs.remove(0); }
  }
}

class Deep {
  final Unit unit = new Unit();
  synchronized void deepBad() { if (unit.tick.count() < 3) unit.tick.add(); }
}

class Unit { final Tick tick = new Tick(); }

class Tick {
  final Guarded inner = new Guarded();
  int count() { return inner.count(); }
  void add() { inner.add(); }
}

class Guarded {
  final Object guard = new Object();
  int n;
  int count() { synchronized (guard) { return n; } }
  void add() { synchronized (guard) { n++; } }
}

// An object that locks itself, in different hands.
class Tally {
  private int n;
  synchronized int n() { return n; }
  synchronized void n(int value) { n = value; }
}

// The tally is private, never given out, and changed only with the owner's lock held.
class TallyKept {
  private final Tally tally = new Tally();
  synchronized void raiseOk(int to) { if (tally.n() < to) tally.n(to); }
  synchronized void resetOk() { zero(); }
  private void zero() { tally.n(0); }
  public int readOk() { return tally.n(); }
}

class TallyKeptByLock {
  private final Object lock = new Object();
  private Tally tally;
  void openOk() { synchronized (lock) { tally = new Tally(); } }
  void closeOk() { synchronized (lock) { tally = null; } }
  void raiseOk(int to) { synchronized (lock) { if (tally != null && tally.n() < to) tally.n(to); } }
}

class TallyChangedOutside {
  private final Tally tally = new Tally();
  synchronized void raiseBad(int to) { if (tally.n() < to) tally.n(to); }
  public void resetOk() { tally.n(0); }
}

class TallyOtherLock {
  private final Object lock = new Object();
  private final Tally tally = new Tally();
  synchronized void raiseBad(int to) { if (tally.n() < to) tally.n(to); }
  public void resetOk() { synchronized (lock) { tally.n(0); } }
}

class TallyReturned {
  private final Tally tally = new Tally();
  synchronized void raiseBad(int to) { if (tally.n() < to) tally.n(to); }
  Tally tally() { return tally; }
}

class TallyGiven {
  private final Tally tally;
  TallyGiven(Tally tally) { this.tally = tally; }
  synchronized void raiseBad(int to) { if (tally.n() < to) tally.n(to); }
}

class TallyPassedOn {
  private final Tally tally = new Tally();
  TallyPassedOn(List<Tally> all) { all.add(tally); }
  synchronized void raiseBad(int to) { if (tally.n() < to) tally.n(to); }
}

class TallyInLambda {
  private final Tally tally = new Tally();
  synchronized void raiseBad(int to) { if (tally.n() < to) tally.n(to); }
  Runnable later() { Tally mine = tally; return () -> mine.n(0); }
}

// What is read again only words the message.
class TallyTold {
  final Tally tally = new Tally();
  synchronized void checkOk() { if (tally.n() < 0) throw new IllegalStateException("only " + tally.n()); }
  synchronized void checkBad() { if (tally.n() < 0) tally.n(0); }
}

// A framework calls it once, on a new object.
class TallyPrepared {
  final Tally tally = new Tally();
  synchronized void init() { if (tally.n() == 0) tally.n(3); }
}

// A test of unknown kind is most likely not the one of this program that locks.
class Shelf implements java.util.function.Predicate<Object> {
  private final Store store = new Store();
  static Shelf make() { return new Shelf(); }
  @Override public boolean test(Object o) { return store.has(o); }
  static class Store {
    final Object lock = new Object();
    final List<Object> all = new ArrayList<>();
    boolean has(Object o) { synchronized (lock) { return all.contains(o); } }
  }
}

class Asks {
  synchronized boolean bothOk(java.util.function.Predicate<Object> test, Object a, Object b) {
    return test.test(a) && test.test(b);
  }
  // Of this kind all are known.
  synchronized boolean bothBad(Shelf shelf, Object a, Object b) { return shelf.test(a) && shelf.test(b); }
}

// The program has an iterator that locks; one that is given is most likely another.
class Names implements Iterator<String> {
  private int n;
  static Names make() { return new Names(); }
  @Override public synchronized boolean hasNext() { return n > 0; }
  @Override public synchronized String next() { return "name " + n--; }
  synchronized String copyBad(Iterator<String> other) { return other.hasNext() ? other.next() : null; }
}

class ReadsNames {
  synchronized String firstOk(Iterator<String> names) { return names.hasNext() ? names.next() : null; }
}

// Both are halves of one lock, which is in no field.
class Halves {
  private final java.util.concurrent.locks.Lock reading, writing;
  private int n, m;
  Halves() {
    java.util.concurrent.locks.ReadWriteLock both = new java.util.concurrent.locks.ReentrantReadWriteLock();
    reading = both.readLock();
    writing = both.writeLock();
  }
  int n() { reading.lock(); try { return n; } finally { reading.unlock(); } }
  int m() { reading.lock(); try { return m; } finally { reading.unlock(); } }
  int joinedOk() { writing.lock(); try { return n() + m(); } finally { writing.unlock(); } }
  void setOk(int to) { writing.lock(); try { n = to; m = to; } finally { writing.unlock(); } }
}

class TwoLocks {
  private final java.util.concurrent.locks.Lock reading, writing;
  private int n, m;
  TwoLocks() {
    java.util.concurrent.locks.ReadWriteLock one = new java.util.concurrent.locks.ReentrantReadWriteLock();
    java.util.concurrent.locks.ReadWriteLock two = new java.util.concurrent.locks.ReentrantReadWriteLock();
    reading = one.readLock();
    writing = two.writeLock();
  }
  int n() { reading.lock(); try { return n; } finally { reading.unlock(); } }
  int m() { reading.lock(); try { return m; } finally { reading.unlock(); } }
  int joinedBad() { writing.lock(); try { return n() + m(); } finally { writing.unlock(); } }
  void setOk(int to) { reading.lock(); try { n = to; m = to; } finally { reading.unlock(); } }
}
