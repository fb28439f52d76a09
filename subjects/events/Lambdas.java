/* expect:
 *   thread main, t1
 *   write Cell.value == 1 by t1
 *   read Cell.value >= 1 by t1
 *   read Cell.value >= 1 by main
 *   read int[] >= 1 by t1
 * about: lambdas that capture, method references of every kind, a lambda that makes a lambda, streams, recursion
 */
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntBinaryOperator;
import java.util.function.Supplier;
import java.util.stream.Collectors;

public class Lambdas {
    static class Cell {
        int value;

        int get() {
            return value;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Cell cell = new Cell();
        int[] box = {1};
        Thread t1 = new Thread(() -> {
            Supplier<Integer> bound = cell::get;
            Function<Cell, Integer> unbound = Cell::get;
            Supplier<Cell> make = Cell::new;
            IntBinaryOperator statics = Math::max;
            Function<Integer, Function<Integer, Integer>> curried = a -> b -> a * 10 + b + box[0];
            System.out.println(bound.get() + unbound.apply(make.get()) + statics.applyAsInt(3, 4)
                    + curried.apply(1).apply(2));
            cell.value = 6;
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(List.of("pear", "fig", "apple").stream().sorted(Comparator.comparing(String::length))
                .map(s -> s + cell.value).collect(Collectors.joining(",")));
    }
}
