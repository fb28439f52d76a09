// A bug: two threads count in one property without order.
import java.util.concurrent.CyclicBarrier

class Count {
    int value
}

def count = new Count()
// Both are under way before either counts.
def both = new CyclicBarrier(2)
def threads = (1..2).collect { Thread.start { both.await(); 3.times { count.value += 1 } } }
threads*.join()
println(count.value > 0 ? 'counted' : 'lost')
