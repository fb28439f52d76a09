import java.text.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.concurrent.locks.*;

// Three more programs of each newer rule, in the way that different people write. Methods whose names end in Bad must be shown by the
// rule that their class starts with, those in Ok by none.

// check-then-act
class CheckThenActSessions {
  private final Map<Long, String> byUser = new HashMap<>();
  private final ConcurrentMap<Long, List<String>> carts = new ConcurrentHashMap<>();
  private final BlockingQueue<Runnable> jobs = new LinkedBlockingQueue<>(10);
  private final ConcurrentSkipListMap<Integer, String> board = new ConcurrentSkipListMap<>();
  private final CopyOnWriteArrayList<Runnable> hooks = new CopyOnWriteArrayList<>();
  public List<String> cartBad(Long user) {
    List<String> cart = carts.get(user);
    if (cart == null) {
      cart = new CopyOnWriteArrayList<>();
      carts.put(user, cart);
    }
    return cart;
  }
  public void expireBad(Long user, String token) {
    List<String> cart = carts.get(user);
    if (cart != null && cart.isEmpty()) carts.remove(user);
  }
  public String winnerBad() {
    if (board.isEmpty()) return "nobody";
    return "" + board.firstKey();
  }
  public void hookOk(Runnable hook) { hooks.addIfAbsent(hook); }
  public List<String> cartOk(Long user) {
    List<String> cart = carts.get(user);
    if (cart != null) return cart;
    List<String> fresh = new CopyOnWriteArrayList<>();
    List<String> old = carts.putIfAbsent(user, fresh);
    return old == null ? fresh : old;
  }
  public String plainOk(Long user) {
    if (!byUser.containsKey(user)) byUser.put(user, "none");
    return byUser.get(user);
  }
}

// inconsistent-sync
class InconsistentSyncPool {
  private int busy, idle;
  private boolean closed;
  private long started;
  private final Object gate = new Object();
  private final Lock lock = new ReentrantLock();
  private String state = "new";
  void borrow() { synchronized (gate) { busy++; idle--; } }
  void giveBack() { synchronized (gate) { busy--; idle++; } }
  void fill(int n) { synchronized (gate) { idle += n; busy = 0; } }
  public int busyBad() { return busy; }
  void open() { lock.lock(); try { state = "open"; } finally { lock.unlock(); } }
  void shut() { lock.lock(); try { if (state.equals("open")) state = "shut"; } finally { lock.unlock(); } }
  public String stateBad() { return state; }
  static class Meter {
    private double sum;
    synchronized void add(double d) { sum += d; }
    synchronized double average(int n) { return sum / n; }
    synchronized void scale(double d) { sum *= d; }
    void resetBad() { sum = 0; }
    void tellOk() { System.err.println("meter"); }
  }
  public String describeOk() { return "pool with " + idle + " idle"; }
  int testOnlyOk() { return idle; }
}

// two-guards
class TwoGuardsIds {
  private static long next = 1;
  private static final Object LOCK = new Object();
  static long takeBad() { synchronized (LOCK) { return next++; } }
  static synchronized void seed(long n) { next = n; }
  private static int opened;
  private final Object mine = new Object();
  void openBad() { synchronized (mine) { opened++; } }
  static void forgetAll() { synchronized (TwoGuardsIds.class) { opened = 0; } }
  private static Map<String, String> names = new HashMap<>();
  synchronized void nameBad(String k) { names = new HashMap<>(names); names.put(k, k); }
  static String name(String k) { synchronized (LOCK) { return names.get(k); } }
  private static int total;
  static void addOk() { synchronized (LOCK) { total++; } }
  static int totalOk() { synchronized (LOCK) { return total; } }
}

// compound-volatile
class CompoundVolatileStats {
  private volatile long bytes;
  private static volatile int open;
  volatile int[] buckets = new int[16];
  private volatile boolean on, on2;
  volatile int[] buckets2 = {}, buckets3 = new int[4];
  static volatile String log = "";
  volatile Thread.State mode = Thread.State.NEW;
  void receivedBad(byte[] b) { bytes = bytes + b.length; }
  static void openedBad() { ++open; }
  void bucketBad(int n) { buckets[n & 15] += 1; }
  // Compilers make a branch of it, and two constants.
  void toggleBad() { on = !on; }
  // Known misses: two writes, of which the read chooses one; a reference that is chosen and not made of the old one.
  void toggleMissed() { if (on) on = false; else on = true; }
  void modeMissed() { mode = mode == Thread.State.NEW ? Thread.State.RUNNABLE : Thread.State.NEW; }
  void orBad(boolean more) { on = on || more; }
  static void logBad(String line) { log += line; }
  void growBad(int n) {
    int[] next = Arrays.copyOf(buckets2, buckets2.length + 1);
    next[next.length - 1] = n;
    buckets2 = next;
  }
  void slotBad(int n) { buckets3[n] = buckets3[n] + n; }
  void shiftOk(int n) { buckets3[n] = buckets3[n - 1] + n; }
  void guardedOk(boolean more) { if (!on2) on2 = more || buckets.length > 3; }
  void resetOk() { buckets2 = new int[buckets2.length]; }
  void setOk(long n) { bytes = n; }
  synchronized void lockedOk() { bytes++; }
  synchronized void clearOk() {
    buckets = new int[16];
    buckets2 = new int[0];
    buckets3 = new int[4];
    on = false;
  }
  void helperOk(int n) { synchronized (this) { add(n); } }
  private void add(int n) { bytes += n; }
}

// shared-format
class SharedFormatReport {
  private static final SimpleDateFormat ISO = new SimpleDateFormat("yyyy-MM-dd");
  static DateFormat clock = DateFormat.getTimeInstance();
  public static final GregorianCalendar EPOCH = new GregorianCalendar(1970, 0, 1);
  private static final ThreadLocal<DateFormat> LOCAL = ThreadLocal.withInitial(() -> new SimpleDateFormat("HH"));
  Date parseBad(String s) throws ParseException { return ISO.parse(s); }
  String timeBad() { return clock.format(new Date()); }
  int yearBad(long millis) { EPOCH.setTimeInMillis(millis); return EPOCH.get(Calendar.YEAR); }
  String localOk(Date d) { return LOCAL.get().format(d); }
  String freshOk(Date d) { return new SimpleDateFormat("yyyy").format(d); }
}

// unreleased-lock
class UnreleasedLockQueue {
  private final Lock lock = new ReentrantLock();
  private final ReentrantReadWriteLock rw = new ReentrantReadWriteLock();
  private final List<String> items = new ArrayList<>();
  String firstBad() {
    lock.lock();
    if (items.isEmpty()) return null;
    String first = items.get(0);
    lock.unlock();
    return first;
  }
  boolean hasBad(String s) {
    rw.readLock().lock();
    for (String item : items) {
      if (item.equals(s)) return true;
    }
    rw.readLock().unlock();
    return false;
  }
  int countBad(int kind) {
    lock.lock();
    if (kind == 0) { lock.unlock(); return 0; }
    if (kind == 1) { return 1; }
    lock.unlock();
    return items.size();
  }
  String safeOk() {
    lock.lock();
    try { return items.isEmpty() ? null : items.get(0); } finally { lock.unlock(); }
  }
}

// test-lock-assign
class TestLockAssignConfig {
  private static Properties loaded;
  private volatile List<String> hosts;
  private Map<String, String> cache;
  static Properties loadedBad() {
    if (loaded == null) {
      synchronized (TestLockAssignConfig.class) { loaded = new Properties(); }
    }
    return loaded;
  }
  List<String> hostsBad() {
    if (hosts == null) {
      synchronized (this) { hosts = resolve(); }
    }
    return hosts;
  }
  String cachedBad(String k) {
    if (cache == null) {
      synchronized (this) { cache = new HashMap<>(); }
    }
    return cache.get(k);
  }
  List<String> resolve() { return new ArrayList<>(); }
  List<String> twiceOk() {
    List<String> h = hosts;
    if (h == null) {
      synchronized (this) {
        h = hosts;
        if (h == null) { h = resolve(); hosts = h; }
      }
    }
    return h;
  }
}

// nested-wait
class NestedWaitDesk {
  private final Object tray = new Object();
  private static final Object OFFICE = new Object();
  private boolean full;
  synchronized void takeBad() throws InterruptedException { synchronized (tray) { while (!full) { tray.wait(100); } full = false; } }
  void officeBad() throws InterruptedException {
    synchronized (OFFICE) { synchronized (this) { while (!full) this.wait(); } }
  }
  static synchronized void classBad(Object door) throws InterruptedException { synchronized (door) { for (;;) door.wait(); } }
  void plainOk() throws InterruptedException { synchronized (tray) { while (!full) tray.wait(); } }
  void afterOk() throws InterruptedException {
    synchronized (this) { full = false; }
    synchronized (tray) { while (!full) tray.wait(); }
  }
}

// notify-one
class NotifyOneBuffer {
  private final Object lock = new Object();
  private final Object[] ring = new Object[4];
  private int used, readers;
  private boolean writing;
  void putBad(Object o) throws InterruptedException {
    synchronized (lock) {
      while (used == ring.length) lock.wait();
      ring[used++] = o;
      lock.notify();
    }
  }
  Object take() throws InterruptedException {
    synchronized (lock) {
      while (readers > 0) lock.wait();
      return ring[--used];
    }
  }
}

class NotifyOneGate {
  private boolean open;
  private int waiting;
  synchronized void pass() throws InterruptedException { while (!open) wait(); }
  synchronized void drain() throws InterruptedException { while (waiting > 0) wait(); }
  synchronized void openBad() { open = true; notify(); }
}

class NotifyOnePrinter {
  private boolean busy;
  private int pages;
  synchronized void print() throws InterruptedException { while (busy) wait(); busy = true; }
  synchronized void refill() throws InterruptedException { while (pages > 0) wait(); pages = 100; }
  synchronized void doneBad() { busy = false; pages--; notify(); }
}

class NotifyOneSame {
  private final LinkedList<Object> items = new LinkedList<>();
  synchronized void putOk(Object o) { items.add(o); notify(); }
  synchronized Object take() throws InterruptedException { while (items.isEmpty()) wait(); return items.removeFirst(); }
  synchronized Object poll(long millis) throws InterruptedException {
    long end = System.currentTimeMillis() + millis;
    while (items.isEmpty() && System.currentTimeMillis() < end) wait(10);
    return items.poll();
  }
}

// Those that wait for a time look again by themselves.
class NotifyOneTimed {
  private boolean open;
  private int waiting;
  synchronized void pass() throws InterruptedException { while (!open) wait(100); }
  synchronized void drain() throws InterruptedException { while (waiting > 0) wait(50); }
  synchronized void openOk() { open = true; notify(); }
}

// unsafe-publication
class UnsafePublicationPoller implements Runnable {
  private final Thread thread;
  private int interval;
  UnsafePublicationPoller(int n) {
    thread = new Thread(this, "poller");
    thread.start();
    interval = n;
  }
  public void run() { while (interval > 0) Thread.onSpinWait(); }
}

class UnsafePublicationRegistry {
  static UnsafePublicationRegistry current;
  private final Map<String, String> map;
  UnsafePublicationRegistry() { current = this; map = new HashMap<>(); }
}

class UnsafePublicationBase extends Thread {
  UnsafePublicationBase() { setDaemon(true); start(); }
}

class UnsafePublicationDerivedOk extends UnsafePublicationBase {
  private final AtomicInteger rounds = new AtomicInteger();
  @Override public void run() { rounds.incrementAndGet(); }
}

// The assignment is on the other way.
class UnsafePublicationBranchOk implements Runnable {
  private final Thread thread;
  UnsafePublicationBranchOk(boolean on) {
    if (on) {
      thread = new Thread(this, "branch");
      thread.start();
    } else {
      thread = null;
    }
  }
  public void run() {}
}

// The thread does not get the object.
class UnsafePublicationApartOk {
  private final Thread thread;
  private int interval;
  UnsafePublicationApartOk(Runnable job, int n) {
    thread = new Thread(job, "apart");
    thread.start();
    interval = n;
  }
}

class UnsafePublicationFineOk {
  private final Thread thread = new Thread(() -> {});
  void begin() { thread.start(); }
}
