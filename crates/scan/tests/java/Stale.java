import java.util.*;

// Lock patterns: methods whose names end in Bad are shown, those in Ok are held back or not found.

class Account {
  private int balance;
  private int limit;
  private Object owner;
  synchronized int balance() { return balance; }
  synchronized void deposit(int n) { balance += n; }
  synchronized void rename(Object o) { owner = o; }
  synchronized void limit(int n) { limit = n; }
  synchronized int limit() { return limit; }
  int through() { return balance(); }
  int throughTwo() { return through(); }
  void pass(int n) { deposit(n); }
  int sumWith(Account other) { return balance() + other.balance(); }
}

class Holder {
  private final Map<String, Object> map = new HashMap<>();
  synchronized Object find(String k) { return map.get(k); }
  synchronized void add(String k, Object v) { map.put(k, v); }
  synchronized void addIfAbsent(String k) { if (!map.containsKey(k)) map.put(k, k); }
  synchronized Object take() { return map.remove("x"); }
  synchronized void give(Object o) { map.put("x", o); }
}

class LazyPart {
  private Object part;
  private final Object fixed = new Object();
  synchronized Object part() { if (part == null) part = new Object(); return part; }
  synchronized Object fixed() { return fixed; }
}

class AuditLog {
  private boolean on;
  private int lines;
  synchronized boolean on() { return on; }
  synchronized void line(String text) { lines++; }
}

class StaleUses {
  final AuditLog log = new AuditLog();
  synchronized void loggedOk(int n) { if (log.on()) log.line("n is " + n); }
  final Account account = new Account();
  final Holder holder = new Holder();
  final LazyPart lazy = new LazyPart();
  Account last;
  synchronized void decidesBad() { if (account.balance() < 10) account.deposit(10); }
  synchronized void computesBad() { account.limit(account.balance() * 2); }
  synchronized Object registryBad(String k) {
    Object found = holder.find(k);
    if (found == null) { found = new Object(); holder.add(k, found); }
    return found;
  }
  synchronized void earlyReturnBad() { if (account.balance() == 0) return; account.deposit(-1); }
  synchronized void behindTwoCallsBad() { if (account.throughTwo() < 10) account.pass(10); }
  synchronized void inLoopBad(List<String> keys) {
    for (String key : keys) { if (holder.find(key) == null) holder.add(key, key); }
  }
  synchronized boolean joinedBad() { return account.balance() + account.limit() > 100; }
  void blocksBad(int[] counts) {
    synchronized (this) {
      int seen;
      synchronized (counts) { seen = counts[0]; }
      synchronized (counts) { counts[0] = seen + 1; }
    }
  }
  synchronized void unrelatedOk() { account.deposit(1); account.deposit(2); }
  synchronized void droppedOk() { account.balance(); account.deposit(2); }
  synchronized void handedBackOk() { Object o = holder.take(); holder.give(o); }
  synchronized void lazyOk() { if (lazy.part() != null) lazy.part().hashCode(); }
  synchronized void settledOk() { if (lazy.fixed() != null) lazy.fixed().hashCode(); }
  boolean go;
  synchronized void waitedOk() throws InterruptedException {
    int seen = account.balance();
    do { wait(); } while (!go);
    account.deposit(seen * 2);
  }
  synchronized void looksAgainOk(String k) { if (holder.find(k) == null) holder.addIfAbsent(k); }
  synchronized Account unpublishedOk() {
    Account fresh = new Account();
    if (fresh.balance() == 0) fresh.deposit(1);
    last = fresh;
    return fresh;
  }
}

// A lock that the program made itself.
class Mutex {
  private boolean taken;
  synchronized void acquire() throws InterruptedException { while (taken) wait(); taken = true; }
  synchronized boolean attempt() { if (taken) return false; taken = true; return true; }
  synchronized void release() { taken = false; notify(); }
}

class UsesMutex {
  final Mutex mutex = new Mutex();
  int n;
  synchronized void madeLockOk() { if (mutex.attempt()) { n++; mutex.release(); } }
}

// A conditional expression: the value read decides which value is written.
class Light {
  private boolean on;
  private int level;
  synchronized boolean on() { return on; }
  synchronized void on(boolean value) { on = value; }
  synchronized int level() { return level; }
  synchronized void level(int value) { level = value; }
}

class Switches {
  final Light light = new Light();
  int wanted;
  synchronized void flipBad() { light.on(!light.on()); }
  synchronized void limitBad() { light.level(light.level() > 9 ? 9 : 1); }
  synchronized void ownOk() { light.on(); light.on(wanted > 9); }
}

// Several methods may answer each call.
interface Purse {
  int sum();
  void put(int n);
}

class Wallet implements Purse {
  private int coins;
  public synchronized int sum() { return coins; }
  public synchronized void put(int n) { coins += n; }
}

class Safe implements Purse {
  private int bars;
  public synchronized int sum() { return bars * 100; }
  public synchronized void put(int n) { bars += n; }
}

class Shopper {
  final Purse purse;
  Shopper(boolean rich) { purse = rich ? new Safe() : new Wallet(); }
  synchronized void severalAnswersBad() { if (purse.sum() < 10) purse.put(10); }
  synchronized void severalAnswersOk() { purse.put(1); purse.put(2); }
}

class Part {
  final Whole owner;
  int n;
  Part(Whole owner) { this.owner = owner; }
}

class Whole {
  final Part part = new Part(this);
  int state;
  synchronized int state() { return state; }
  synchronized void state(int n) { state = n; }
  synchronized void backPointerOk() { if (part.owner.state() > 0) part.owner.state(3); }
}

// The paper's sor: a synchronized method that takes a collection apart which locks itself, and a heap.
class Bag {
  private int size;
  synchronized void grow() { size++; }
  synchronized int size() { return size; }
  synchronized Object get(int i) { return i; }
  synchronized int compareTo(Bag other) { int n = other.size; return size < n ? -1 : size == n ? 0 : 1; }
}

class Store {
  private Object[] items = new Object[8];
  private Bag[] heap = new Bag[8];
  private int count;
  synchronized boolean addAllBad(Bag bag) {
    int more = bag.size();
    if (more == 0) return false;
    Object[] grown = new Object[items.length + more];
    System.arraycopy(items, 0, grown, 0, items.length);
    for (int i = 0; i < more; i++) grown[items.length + i] = bag.get(i);
    items = grown;
    return true;
  }
  synchronized void insertBad(Bag x) {
    int k = count++;
    while (k > 0) {
      int parent = (k - 1) / 2;
      if (x.compareTo(heap[parent]) >= 0) break;
      heap[k] = heap[parent];
      k = parent;
    }
    heap[k] = x;
  }
}
