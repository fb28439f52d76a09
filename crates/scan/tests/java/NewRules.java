import java.text.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

// Methods whose names end in Bad must be shown by the rule that their class is named after, those in Ok must not.

class CheckThenAct {
  final ConcurrentHashMap<String, Object> sessions = new ConcurrentHashMap<>();
  final ConcurrentMap<String, Integer> hits = new ConcurrentHashMap<>();
  final ConcurrentLinkedQueue<String> queue = new ConcurrentLinkedQueue<>();
  final CopyOnWriteArrayList<Object> listeners = new CopyOnWriteArrayList<>();
  Object sessionBad(String id) {
    if (!sessions.containsKey(id)) sessions.put(id, new Object());
    return sessions.get(id);
  }
  void countBad(String page) {
    Integer old = hits.get(page);
    if (old == null) hits.put(page, 1); else hits.put(page, old + 1);
  }
  String nextBad() { return queue.isEmpty() ? null : queue.remove(); }
  void listenBad(Object listener) { if (!listeners.contains(listener)) listeners.add(listener); }
  void limitBad(String entry) { if (queue.size() < 100) queue.add(entry); }
  void sweepOk() {
    List<String> old = new ArrayList<>(queue.size());
    for (String entry : queue) if (entry.isEmpty()) old.add(entry);
    for (String entry : old) queue.remove(entry);
  }
  Object sessionOk(String id) { return sessions.computeIfAbsent(id, k -> new Object()); }
  void otherKeyOk(String a, String b) { if (sessions.containsKey(a)) sessions.put(b, a); }
  synchronized void lockedOk(String id) { if (!sessions.containsKey(id)) sessions.put(id, id); }
  void localOk(String id) {
    ConcurrentHashMap<String, Object> mine = new ConcurrentHashMap<>();
    if (!mine.containsKey(id)) mine.put(id, id);
  }
  void twiceOk(String id) {
    if (sessions.get(id) == null) { synchronized (this) { if (sessions.get(id) == null) sessions.put(id, id); } }
  }
  final ConcurrentMap<Class<?>, String> titles = new ConcurrentHashMap<>();
  final ConcurrentMap<String, String> texts = new ConcurrentHashMap<>();
  // Two threads put equal texts.
  String titleOk(Class<?> c) {
    String title = titles.get(c);
    if (title == null) {
      title = c.getSimpleName();
      if (title.isEmpty()) title = c.getName();
      titles.put(c, title);
    }
    return title;
  }
  void textBad(String key, String more) {
    String text = texts.get(key);
    if (text != null) texts.put(key, text + more);
  }
  void putOnlyOk(String id) { sessions.put(id, id); sessions.get(id); }
}

class InconsistentSync {
  private int count;
  private long total;
  private int mostly;
  synchronized void add(int n) { count++; total += n; mostly++; }
  synchronized void remove(int n) { count--; total -= n; mostly--; }
  synchronized void clear() { count = 0; total = 0; }
  public int countBad() { return count; }
  synchronized long totalOk() { return total; }
  private void helperOk() { mostly = 3; }
  synchronized void callsHelper() { helperOk(); }
}

class InconsistentCallers {
  private int far;
  private int given;
  synchronized void add() { far++; given++; }
  synchronized void remove() { far--; given--; }
  synchronized void clear() { far = 0; given = 0; }
  public synchronized void start(int n) { one(n); }
  private void one(int n) { two(n); }
  private void two(int n) { three(n); }
  private void three(int n) { four(n); }
  private void four(int n) { fiveOk(n); }
  private void fiveOk(int n) { if (n > 0) fiveOk(n - 1); far = n; }
  public void run() { locked(n -> setOk(n)); }
  private void locked(java.util.function.IntConsumer task) { synchronized (this) { task.accept(1); } }
  private void setOk(int n) { given = n; }
}

// Methods of its own take and give up the lock.
class InconsistentKeeper {
  private final ReentrantLock lock = new ReentrantLock();
  private int n;
  private void hold() { lock.lock(); }
  private void release() { lock.unlock(); }
  void add() { lock.lock(); try { n++; } finally { lock.unlock(); } }
  void remove() { lock.lock(); try { n--; } finally { lock.unlock(); } }
  void clear() { lock.lock(); try { n = 0; } finally { lock.unlock(); } }
  public int readOk() { hold(); try { return n; } finally { release(); } }
}

// A framework calls it once, on a new object.
class InconsistentPrepared {
  private int n;
  synchronized void add() { n++; }
  synchronized void remove() { n--; }
  synchronized void clear() { n = 0; }
  public void init(int start) { n = start; }
}

// The class itself calls it, whenever it is used.
class InconsistentLazy {
  private int n;
  synchronized void add() { n++; }
  synchronized void remove() { n--; }
  synchronized void clear() { n = 0; }
  public void init() { n = 3; }
  public void use() { init(); }
}

@interface VisibleForTesting {}

class InconsistentTests {
  private int n;
  private int m;
  synchronized void add() { n++; m++; }
  synchronized void remove() { n--; m--; }
  synchronized void clear() { n = 0; m = 0; }
  @VisibleForTesting public int testedOk() { return n; }
  @VisibleForTesting public int usedBad() { return m; }
  public int twice() { return 2 * usedBad(); }
}

// An old value in the message of an exception does no harm.
class InconsistentMessage {
  private int n;
  private int m;
  synchronized void add() { n++; m++; }
  synchronized void remove() { n--; m--; }
  synchronized void clear() { n = 0; m = 0; }
  public void failOk() { throw new IndexOutOfBoundsException(n); }
  public void failBad() { if (m > 3) throw new IllegalStateException(); }
}

@interface GuardedBy { String value(); }

// Reads that are meant as they are.
class GuardedMeant {
  @GuardedBy("this") private volatile boolean closed;
  @GuardedBy("this") private int n;
  @GuardedBy("this") private int m;
  synchronized void close() { closed = true; n++; m++; }
  public boolean closedOk() { return closed; }
  public int unsynchronizedCount() { return n; }
  public int countBad() { return m; }
  @Override public String toString() { return "n is " + n; }
}

// The lock is held, but the code does not name it.
class GuardedUnnamed {
  private final Object lock = new Object();
  @GuardedBy("lock") private int n;
  private Object lock() { return lock; }
  public void addOk() { synchronized (lock()) { n++; } }
}

// The class above holds the lock, which both inherit.
class InconsistentAbove {
  protected final Object gate = new Object();
  public void write(int v) { synchronized (gate) { beforeOk(v); } }
  protected void beforeOk(int v) {}
}

class InconsistentBelow extends InconsistentAbove {
  private int most;
  void most(int n) { synchronized (gate) { most = n; } }
  void less() { synchronized (gate) { most--; } }
  void more() { synchronized (gate) { most++; } }
  @Override protected void beforeOk(int v) { if (v > most) throw new IllegalStateException(); }
}

class GuardedWritten {
  @GuardedBy("this") private volatile boolean closed;
  public void closeBad() { closed = true; }
}

class InconsistentOk {
  private final List<String> names = new ArrayList<>();
  private volatile int size;
  private int rare;
  synchronized void add(String name) { names.add(name); size++; }
  synchronized void clear() { names.clear(); size = 0; rare = 1; }
  int sizeOk() { return size; }
  int rareOk() { return rare; }
  int rare2Ok() { return rare; }
}

class TwoGuards {
  static int next;
  static int counted;
  static synchronized int take() { return next++; }
  synchronized void resetBad() { next = 0; }
  static synchronized void countOk() { counted++; }
  void sameOk() { synchronized (TwoGuards.class) { counted--; } }
}

class CompoundVolatile {
  volatile int hits;
  volatile long sum;
  volatile int[] cells = new int[8];
  volatile boolean on;
  volatile boolean[] marks = new boolean[8];
  volatile int peak;
  volatile int[] grown = {};
  volatile Integer boxed = 0;
  volatile String label;
  volatile Link top;
  volatile List<String> names = List.of();
  record Link(String name, Link next) {}
  void hitBad() { hits++; }
  void sumBad(int n) { sum += n; }
  void cellBad(int i) { cells[i]++; }
  synchronized void lockedOk() { hits++; }
  void flipBad() { on = !on; }
  void peakBad(int n) { peak = Math.max(peak, n); }
  void boxedBad() { boxed++; }
  void pushBad(String name) { top = new Link(name, top); }
  void againBad(int i) { marks[i] = !marks[i]; }
  void copyBad(String name) {
    List<String> copy = new ArrayList<>(names);
    copy.add(name);
    names = copy;
  }
  void growBad(int n) {
    int[] old = grown;
    int[] next = new int[old.length + 1];
    System.arraycopy(old, 0, next, 0, old.length);
    next[old.length] = n;
    grown = next;
  }
  synchronized void flipOk() { on = !on; }
  void nextOk(int i) { cells[i] = cells[i + 1]; }
  void defaultOk() { label = label == null ? "none" : label; }
  void freshOk(String name) { top = new Link(name, null); }
  void setOk(int n) { hits = n; }
  void flagOk() { if (!on) on = true; }
  void cellSetOk(int i) { cells[i] = 1; }
  // That these are assigned with a lock held says that several threads update them.
  synchronized void clearOk() {
    sum = 0;
    cells = new int[8];
    marks = new boolean[8];
    peak = 0;
    grown = new int[0];
    boxed = 0;
    top = null;
    names = List.of();
  }
}

// Nothing says that more than one thread updates it, though the class locks something else.
class CompoundOwned {
  volatile int seen;
  volatile int[] slots = new int[4];
  private int users;
  synchronized void enter() { users++; }
  void seenOk() { seen++; }
  void slotOk(int i) { slots[i]++; }
}

class CompoundUpdater {
  private static final AtomicIntegerFieldUpdater<CompoundUpdater> STATE =
      AtomicIntegerFieldUpdater.newUpdater(CompoundUpdater.class, "state");
  volatile int state;
  volatile int other;
  boolean close() { return STATE.compareAndSet(this, 0, 1); }
  void raiseBad() { state |= 2; }
  void otherOk() { other |= 2; }
}

class SharedFormat {
  static final DateFormat DAY = new SimpleDateFormat("yyyy");
  static final Calendar NOW = Calendar.getInstance();
  final DateFormat own = new SimpleDateFormat("yyyy");
  static final DateFormat LOCKED = new SimpleDateFormat("yyyy");
  String dayBad(Date date) { return DAY.format(date); }
  static Date nowBad(int n) { NOW.add(Calendar.DATE, n); return NOW.getTime(); }
  String ownOk(Date date) { return own.format(date); }
  String lockedOk(Date date) { synchronized (LOCKED) { return LOCKED.format(date); } }
  String copyOk(Date date) { return ((DateFormat) DAY.clone()).format(date); }
}

class UnreleasedLock {
  final ReentrantLock lock = new ReentrantLock();
  boolean closed;
  void earlyBad() {
    lock.lock();
    if (closed) return;
    closed = true;
    lock.unlock();
  }
  int switchBad(int n) {
    lock.lock();
    switch (n) { case 1: lock.unlock(); return 1; case 2: return 2; default: lock.unlock(); return 3; }
  }
  void finallyOk() {
    lock.lock();
    try { if (closed) return; closed = true; } finally { lock.unlock(); }
  }
  void openOk() { lock.lock(); }
  void closeOk() { lock.unlock(); }
  boolean eitherOk() {
    if (!lock.tryLock()) return false;
    try { return closed; } finally { lock.unlock(); }
  }
}

class TestLockAssign {
  Object cache;
  volatile Object shared;
  boolean flag;
  Object cacheBad() {
    if (cache == null) { synchronized (this) { cache = new Object(); } }
    return cache;
  }
  Object sharedBad(Object key) {
    Object found = shared;
    if (found == null) { synchronized (this) { found = String.valueOf(key); shared = found; } }
    return found;
  }
  Object twiceOk() {
    if (shared == null) { synchronized (this) { if (shared == null) shared = new Object(); } }
    return shared;
  }
  void flagOk() { if (!flag) { synchronized (this) { flag = true; } } }
  void unrelatedOk(Object value) { synchronized (this) { shared = value; } }
}

class NestedWait {
  final Object a = new Object(), b = new Object();
  boolean ready;
  void nestedBad() throws InterruptedException {
    synchronized (a) { synchronized (b) { while (!ready) b.wait(); } }
  }
  synchronized void methodBad() throws InterruptedException {
    synchronized (b) { while (!ready) b.wait(10); }
  }
  void singleOk() throws InterruptedException { synchronized (b) { while (!ready) b.wait(); } }
  synchronized void sameOk() throws InterruptedException { synchronized (this) { while (!ready) wait(); } }
}

class NotifyOne {
  final LinkedList<Object> items = new LinkedList<>();
  synchronized void putBad(Object o) throws InterruptedException {
    while (items.size() > 3) wait();
    items.add(o);
    notify();
  }
  synchronized Object take() throws InterruptedException {
    while (items.isEmpty()) wait();
    Object o = items.removeFirst();
    notifyAll();
    return o;
  }
}

class NotifyOneOk {
  final LinkedList<Object> items = new LinkedList<>();
  synchronized void put(Object o) { items.add(o); notify(); }
  synchronized Object take() throws InterruptedException {
    while (items.isEmpty()) wait();
    return items.removeFirst();
  }
}

class StartsBad extends Thread {
  int interval;
  StartsBad() { start(); interval = 100; }
}

class PublishesBad {
  static PublishesBad instance;
  int size;
  PublishesBad() { instance = this; size = 3; }
}

class BaseBad implements Runnable {
  BaseBad() { new Thread(this).start(); }
  public void run() {}
}

class DerivedOk extends BaseBad {
  int late = 7;
}

final class MadeOk implements Runnable {
  int interval;
  MadeOk() { interval = 100; }
  static MadeOk begin() { MadeOk made = new MadeOk(); new Thread(made).start(); return made; }
  public void run() {}
}
