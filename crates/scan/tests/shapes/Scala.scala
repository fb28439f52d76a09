import java.util.concurrent.locks.ReentrantLock

// Every method whose name ends in Bad locks a cell twice under another lock; none whose name ends in Ok does.
class SCell:
  private var value = 0
  def get(): Int = synchronized { value }
  def set(v: Int): Unit = synchronized { value = v }

class Scala:
  private val lock = new ReentrantLock

  def methodBad(c: SCell): Unit = synchronized { c.set(c.get() + 1) }

  def blockBad(o: AnyRef, c: SCell): Unit = o.synchronized { c.set(c.get() + 1) }

  def resultBad(o: AnyRef, c: SCell): Int = o.synchronized {
    if c.get() > 0 then 1
    else
      c.set(2)
      0
  }

  def explicitBad(c: SCell): Unit =
    lock.lock()
    try c.set(c.get() + 1)
    finally lock.unlock()

  def heldOk(c: SCell): Unit = synchronized { c.synchronized { c.set(c.get() + 1) } }

  def afterOk(o: AnyRef, c: SCell): Unit =
    o.synchronized { c.get() }
    c.set(1)

object Scala:
  def objectBad(c: SCell): Unit = synchronized { c.set(c.get() + 1) }
