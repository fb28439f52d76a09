// Correct programs: futures and promises that order all that they share. Nothing may be found.
import scala.collection.concurrent.TrieMap
import scala.concurrent.{Await, Future, Promise, blocking}
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration.*

class Cell:
  var value = 0

object Lazily:
  lazy val cell = { val cell = Cell(); cell.value = 5; cell }

def awaitResult(): Unit =
  val cell = Cell()
  val done = Future { cell.value = 1; cell }
  println(Await.result(done, 10.seconds).value)
  cell.value += 1

def chain(): Unit =
  val cell = Cell()
  val done = Future { cell.value = 1 }.map(_ => cell.value += 1).flatMap(_ => Future { cell.value += 1; cell.value })
  println(Await.result(done, 10.seconds))

def sequence(): Unit =
  val cells = List.fill(4)(Cell())
  val all = Future.sequence(cells.map(cell => Future { cell.value = 2; cell }))
  println(Await.result(all, 10.seconds).map(_.value).sum)

def promise(): Unit =
  val promise = Promise[Cell]()
  val reader = promise.future.map(_.value)
  val writer = Thread(() => { val cell = Cell(); cell.value = 3; promise.success(cell); () })
  writer.start()
  println(Await.result(reader, 10.seconds))
  writer.join()

def ready(): Unit =
  val cell = Cell()
  val done = Future { blocking { cell.value = 4 } }
  Await.ready(done, 10.seconds)
  println(cell.value)

def zipped(): Unit =
  val (one, two) = (Cell(), Cell())
  val both = Future { one.value = 1 }.zip(Future { two.value = 2 })
  Await.result(both, 10.seconds)
  println(one.value + two.value)

def map(): Unit =
  val map = TrieMap[String, Cell]()
  val put = Future { val cell = Cell(); cell.value = 6; map.put("key", cell) }
  while !map.contains("key") do Thread.onSpinWait()
  println(map("key").value)
  Await.result(put, 10.seconds)

def lazily(): Unit =
  val all = Future.sequence(List.fill(3)(Future { Lazily.cell.value }))
  println(Await.result(all, 10.seconds).sum)

@main def ordered(): Unit =
  awaitResult()
  chain()
  sequence()
  promise()
  ready()
  zipped()
  map()
  lazily()
