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
