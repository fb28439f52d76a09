class Line {
  Location start, end;
  synchronized boolean contains(Location point) {
    double r1=point.distanceTo(start);
    double r2=point.distanceTo(end);
    double c=start.distanceTo(end);
    return ((r1+r2)<=1.001*c);
  }
}

class Location {
  double x, y;
  synchronized double distanceTo(Location p) {
    return Math.sqrt(
      Math.pow(p.x-x,2)
      +Math.pow(p.y-y,2)
    );
  }
}

// Section 2.1: the fix.
class FixedLine {
  Location start, end;
  synchronized boolean contains(Location point) {
    double r1, r2;
    synchronized(point) {
      r1=point.distanceTo(start);
      r2=point.distanceTo(end);
    }
    double c=start.distanceTo(end);
    return ((r1+r2)<=1.001*c);
  }
}

// Section 3.1: one or the other, never both.
class EitherLine {
  Location start, end;
  synchronized double either(Location point, boolean b) {
    double r1 = 0, r2 = 0;
    if (b)
      r1=point.distanceTo(start);
    else
      r2=point.distanceTo(end);
    return r1 + r2;
  }
}

// Section 3.1: the same place in a loop.
class LoopLine {
  Location[] endpoints;
  synchronized void loop(Location point, double[] r) {
    for (int i = 0; i < 2; i++) {
      r[i]=point.distanceTo(endpoints[i]);
    }
  }
}

// Section 3.1: different locks at the same place in a loop.
class ElementLine {
  Location[] endpoints;
  synchronized void elements(Location[] point, double[] r) {
    for (int i = 0; i < 2; i++) {
      r[i]=point[i].distanceTo(endpoints[i]);
    }
  }
  // Marked twice before i is modified: stays marked.
  synchronized void twiceEach(Location[] point, double[] r) {
    for (int i = 0; i < 2; i++) {
      r[i]=point[i].distanceTo(endpoints[i])
          +point[i].distanceTo(endpoints[0]);
    }
  }
}

// Section 3.3: the caller holds the lock on point, and contains is reported all the same.
class Caller {
  boolean held(Line line, Location point) {
    synchronized(point) {
      return line.contains(point);
    }
  }
}

// Section 4.4: the context is in a caller.
class Split {
  void twice(Location y) {
    y.distanceTo(y);
    y.distanceTo(y);
  }
  void context(Object x, Location y) {
    synchronized(x) {
      twice(y);
    }
  }
}

// The variant of section 2.3: two different locks.
class Pair {
  synchronized double both(Location a, Location b) {
    return a.distanceTo(null) + b.distanceTo(null);
  }
}
