// Correct programs: coroutines that order all that they share. Nothing may be found.
import kotlinx.coroutines.*
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.*
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.Semaphore
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.sync.withPermit

class Cell {
    var value = 0
}

fun launchAndJoin() = runBlocking {
    val cell = Cell()
    val job = launch(Dispatchers.Default) { cell.value++ }
    job.join()
    cell.value++
    println(cell.value)
}

fun asyncAndAwait() = runBlocking {
    val cells = List(4) { Cell() }
    val all = cells.map { cell -> async(Dispatchers.Default) { cell.value = 2; cell } }
    println(all.awaitAll().sumOf { it.value })
}

fun channel() = runBlocking {
    val channel = Channel<Cell>(2)
    val sender = launch(Dispatchers.Default) {
        repeat(5) { i -> channel.send(Cell().also { it.value = i }) }
        channel.close()
    }
    var sum = 0
    for (cell in channel) sum += cell.value
    sender.join()
    println(sum)
}

fun rendezvous() = runBlocking {
    val channel = Channel<Cell>()
    val receiver = async(Dispatchers.Default) { var sum = 0; for (cell in channel) { cell.value++; sum += cell.value }; sum }
    repeat(5) { i -> channel.send(Cell().also { it.value = i }) }
    channel.close()
    println(receiver.await())
}

fun mutex() = runBlocking {
    val mutex = Mutex()
    val cell = Cell()
    coroutineScope {
        repeat(4) { launch(Dispatchers.Default) { repeat(5) { mutex.withLock { cell.value++ } } } }
    }
    println(cell.value)
}

fun semaphore() = runBlocking {
    val semaphore = Semaphore(1)
    val cell = Cell()
    coroutineScope {
        repeat(4) { launch(Dispatchers.IO) { semaphore.withPermit { cell.value++ } } }
    }
    println(cell.value)
}

fun contexts() = runBlocking {
    val cell = Cell()
    repeat(3) {
        withContext(Dispatchers.Default) { cell.value++ }
        withContext(Dispatchers.IO) { cell.value++ }
        delay(1)
        cell.value++
    }
    println(cell.value)
}

fun oneThread() = runBlocking {
    val one = Dispatchers.Default.limitedParallelism(1)
    val cell = Cell()
    coroutineScope { repeat(6) { launch(one) { cell.value++ } } }
    println(cell.value)
}

fun deferred() = runBlocking {
    val promise = CompletableDeferred<Cell>()
    val reader = launch(Dispatchers.Default) { println(promise.await().value) }
    launch(Dispatchers.IO) { promise.complete(Cell().also { it.value = 3 }) }
    reader.join()
}

fun flows() = runBlocking {
    val cells = flow { repeat(4) { i -> emit(Cell().also { it.value = i }) } }.flowOn(Dispatchers.Default)
    println(cells.toList().sumOf { it.value })
}

val lazily = lazy { Cell().also { it.value = 4 } }

fun lazyValue() = runBlocking {
    val all = List(3) { async(Dispatchers.Default) { lazily.value.value } }
    println(all.awaitAll().sum())
}

fun main() {
    launchAndJoin()
    asyncAndAwait()
    channel()
    rendezvous()
    mutex()
    semaphore()
    contexts()
    oneThread()
    deferred()
    flows()
    lazyValue()
}
