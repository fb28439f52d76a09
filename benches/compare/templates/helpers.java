static void both(Runnable first, Runnable second) throws InterruptedException {
    Thread t1 = new Thread(first);
    Thread t2 = new Thread(second);
    t1.start();
    t2.start();
    t1.join();
    t2.join();
}

static void check(boolean right) {
    if (!right) throw new AssertionError();
}
