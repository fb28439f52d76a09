import java.util.*;

// The cases that the LockPattern paper describes in words, of programs that are not to be had: methods whose names end in Bad are
// those that it calls violations or stylistic problems.

// ObjectDraw: two bounding boxes.
class Box {
  private int left, top, right, bottom;
  Box(int left, int top, int right, int bottom) { this.left = left; this.top = top; this.right = right; this.bottom = bottom; }
  synchronized int left() { return left; }
  synchronized int right() { return right; }
  synchronized int top() { return top; }
  synchronized int bottom() { return bottom; }
  synchronized void move(int dx) { left += dx; right += dx; }
  synchronized boolean overlapsBad(Box other) {
    return left < other.right() && other.left() < right && top < other.bottom() && other.top() < bottom;
  }
}

// Arbaro: progress that is set when it has grown by more than one percent.
class Progress {
  private int now;
  synchronized int now() { return now; }
  synchronized void now(int n) { now = n; }
}

class Render {
  final Progress progress = new Progress();
  synchronized void advanceBad(int to) { if (to > progress.now() + 1) progress.now(to); }
}

// TVSchedulerPro: the size of a list, then its elements; and a property that gets its default.
class Devices {
  private final List<Object> all = new ArrayList<>();
  synchronized int size() { return all.size(); }
  synchronized Object get(int n) { return all.get(n); }
  synchronized void remove(Object o) { all.remove(o); }
}

class Settings {
  private final Map<String, String> map = new HashMap<>();
  synchronized String get(String key) { return map.get(key); }
  synchronized void set(String key, String value) { map.put(key, value); }
}

class Recorder {
  final Devices devices = new Devices();
  final Settings settings = new Settings();
  synchronized int activeBad() {
    int active = 0;
    int size = devices.size();
    for (int i = 0; i < size; i++) if (devices.get(i) != null) active++;
    return active;
  }
  synchronized String propertyBad(String key) {
    String value = settings.get(key);
    if (value == null) { value = "default"; settings.set(key, value); }
    return value;
  }
}

// TuxGuitar: a step of a sequencer over a controller of ticks.
class Ticks {
  private long tick, last;
  private int tempo = 120;
  synchronized long tick() { return tick; }
  synchronized int tempo() { return tempo; }
  synchronized void tempo(int n) { tempo = n; }
  synchronized void advance(long to) { last = tick; tick = to; }
}

class Sequencer {
  final Ticks ticks = new Ticks();
  synchronized void processBad() { ticks.advance(ticks.tick() + 1000 / ticks.tempo()); }
}

// Risk: a battle is closed, then the game, with the state of the game locked for each. Nothing read by the first decides the second.
class Game {
  private Object battle;
  private boolean open;
  synchronized void closeBattle() { battle = null; }
  synchronized void close() { open = false; }
  synchronized void start(Object b) { if (open) battle = b; }
}

class Client {
  final Game game = new Game();
  synchronized void kicked() { game.closeBattle(); game.close(); }
}

// Jose: lines that belong together, each written under the lock of the output.
class Output {
  private final StringBuilder text = new StringBuilder();
  synchronized void line(String s) { text.append(s); }
}

class Writer {
  final Output out = new Output();
  synchronized void pair(String a, String b) { out.line(a); out.line(b); }
}
