class Figure4 {
  static void m1(Object a, Object b) {
    synchronized (a) {
      m2(a, b);
    }
  }
  static void m2(Object a, Object b) {
    m3(a, b);
    m4(a, b);
  }
  static void m3(Object a, Object b) {
    synchronized (a) {
      m5(b);
    }
  }
  static void m4(Object a, Object b) {
    synchronized (a) {
      m5(b);
    }
  }
  static void m5(Object b) {
    synchronized (b) {
      b.hashCode();
    }
  }
}
