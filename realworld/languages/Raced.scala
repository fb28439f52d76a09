// A bug: two futures count in one cell without order.
import java.util.concurrent.CyclicBarrier
import scala.concurrent.{Await, Future}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration.*

class Count:
  var value = 0

@main def raced(): Unit =
  val count = Count()
  // Both are under way before either counts.
  val both = CyclicBarrier(2)
  val futures = List.fill(2)(Future { both.await(); for _ <- 1 to 3 do count.value += 1 })
  Await.result(Future.sequence(futures), 10.seconds)
  println(if count.value > 0 then "counted" else "lost")
