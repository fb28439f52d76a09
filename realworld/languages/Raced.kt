// A bug: two coroutines on several threads count in one cell without order.
import kotlinx.coroutines.*
import java.util.concurrent.CyclicBarrier

class Count {
    var value = 0
}

fun main() = runBlocking {
    val count = Count()
    // Both are under way before either counts.
    val both = CyclicBarrier(2)
    val jobs = List(2) {
        launch(Dispatchers.Default) {
            both.await()
            repeat(3) { count.value++ }
        }
    }
    jobs.joinAll()
    println(if (count.value > 0) "counted" else "lost")
}
