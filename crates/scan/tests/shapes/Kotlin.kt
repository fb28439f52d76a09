import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock

// Every function whose name ends in Bad locks a cell twice under another lock; none whose name ends in Ok does.
class KCell {
    private var value = 0
    @Synchronized fun get() = value
    @Synchronized fun set(v: Int) { value = v }
    fun block() = synchronized(this) { value }
}

class Kotlin {
    private val lock = ReentrantLock()

    @Synchronized fun methodBad(c: KCell) { c.set(c.get() + 1) }

    fun blockBad(o: Any, c: KCell) { synchronized(o) { c.set(c.block() + 1) } }

    fun resultBad(o: Any, c: KCell): Int = synchronized(o) { if (c.get() > 0) return 1; c.set(2); 0 }

    fun withLockBad(c: KCell) { lock.withLock { c.set(c.get() + 1) } }

    fun loopBad(o: Any, cells: List<KCell>) {
        for (c in cells) synchronized(o) { c.set(c.get() + 1) }
    }

    fun heldOk(c: KCell) { synchronized(this) { synchronized(c) { c.set(c.get() + 1) } } }

    fun afterOk(o: Any, c: KCell) { synchronized(o) { c.get() }; c.set(1) }

    fun withLockOk(c: KCell) { lock.withLock { c.get() }; c.set(1) }

    companion object {
        @JvmStatic @Synchronized fun companionBad(c: KCell) { c.set(c.get() + 1) }
    }
}
