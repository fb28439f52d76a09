// Correct programs: closures in threads and pools that order all that they share. Nothing may be found.
import groovy.transform.Synchronized
import java.util.concurrent.Callable
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.ReentrantLock

class Cell {
    int value
}

class Guarded {
    private int sum

    @Synchronized
    void add(int amount) { sum += amount }

    @Synchronized
    int sum() { sum }
}

class Lazily {
    @Lazy volatile Cell cell = new Cell(value: 5)
}

def joined() {
    def cell = new Cell()
    def thread = Thread.start { cell.value = 1 }
    thread.join()
    println cell.value
}

def guarded() {
    def guarded = new Guarded()
    def threads = (1..2).collect { amount -> Thread.start { guarded.add(amount) } }
    threads*.join()
    println guarded.sum()
}

def pool() {
    def pool = Executors.newFixedThreadPool(2)
    def tasks = (1..4).collect { number -> pool.submit({ new Cell(value: number) } as Callable) }
    println tasks.collect { it.get().value }.sum()
    pool.shutdown()
}

def counted() {
    def count = new AtomicInteger()
    def done = new CountDownLatch(2)
    def cell = new Cell()
    2.times { Thread.start { count.incrementAndGet(); done.countDown() } }
    done.await()
    cell.value = count.get()
    println cell.value
}

def locked() {
    def lock = new ReentrantLock()
    def cell = new Cell()
    def threads = (1..2).collect {
        Thread.start {
            lock.lock()
            try { cell.value += 1 } finally { lock.unlock() }
        }
    }
    threads*.join()
    println cell.value
}

def map() {
    def map = new ConcurrentHashMap<String, Integer>()
    def threads = (1..2).collect { Thread.start { map.merge('key', 1, Integer::sum) } }
    threads*.join()
    println map['key']
}

def lazily() {
    def lazily = new Lazily()
    def threads = (1..2).collect { Thread.start { lazily.cell.value } }
    threads*.join()
    println lazily.cell.value
}

joined()
guarded()
pool()
counted()
locked()
map()
lazily()
