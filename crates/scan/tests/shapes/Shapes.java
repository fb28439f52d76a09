import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

// Every method whose name ends in Bad locks a cell twice under another lock; none whose name ends in Ok does.
class Cell {
  int value;
  synchronized int get() { return value; }
  synchronized void set(int v) { value = v; }
}

class Shapes {
  final Object[] locks = {new Object()};
  final Lock lock = new ReentrantLock();

  synchronized void methodBad(Cell c) { c.set(c.get() + 1); }

  static synchronized void staticBad(Cell c) { c.set(c.get() + 1); }

  void blockBad(Object o, Cell c) { synchronized (o) { c.set(c.get() + 1); } }

  int returnBad(Object o, Cell c) {
    synchronized (o) {
      if (c.get() > 0) return 1;
      try { c.set(2); } finally { o.hashCode(); }
      return 0;
    }
  }

  void loopBad(Object o, Cell c) {
    for (int i = 0; i < 9; i++) {
      synchronized (o) {
        if (i == 3) continue;
        if (i == 5) break;
        c.set(c.get() + i);
      }
    }
  }

  void nestedBad(Object o, Object p, Cell c) {
    synchronized (o) { synchronized (p) { c.get(); } synchronized (p) { c.set(1); } }
  }

  void explicitBad(Cell c) {
    lock.lock();
    try { c.set(c.get() + 1); } finally { lock.unlock(); }
  }

  void elementBad(Cell c) { synchronized (locks[0]) { c.set(c.get() + 1); } }

  void classBad(Cell c) { synchronized (Shapes.class) { c.set(c.get() + 1); } }

  synchronized void switchBad(Cell c, String s) {
    switch (s) {
      case "a": c.get(); break;
      case "b": c.set(1); break;
      default: break;
    }
    c.set(2);
  }

  synchronized void callBad(Cell c) { helper(c); helper(c); }

  private void helper(Cell c) { c.get(); }

  class Inner {
    void outerBad(Cell c) { synchronized (Shapes.this) { c.set(c.get() + 1); } }
  }

  synchronized void heldOk(Cell c) { synchronized (c) { c.set(c.get() + 1); } }

  synchronized int heldReturnOk(Cell c) {
    synchronized (c) {
      if (c.get() > 0) return 1;
      c.set(2);
      return 0;
    }
  }

  void afterOk(Object o, Cell c) {
    synchronized (o) { c.get(); }
    c.set(1);
  }

  void unlockedOk(Cell c) {
    lock.lock();
    try { c.get(); } finally { lock.unlock(); }
    c.set(1);
  }

  synchronized void eitherOk(Cell c, boolean b) { if (b) c.get(); else c.set(1); }

  synchronized void elementsOk(Cell[] cells) { for (Cell c : cells) c.get(); }

  void lambdaOk(Cell c) {
    Consumer<Cell> one = x -> x.get();
    synchronized (this) { one.hashCode(); }
    one.accept(c);
  }
}
