/* expect:
 *   thread main, t1, t2
 *   read|write ArrayList.size >= 2 by t1
 *   write|update AtomicLong.value >= 1 by t2
 *   read ArrayList.size >= 1 by main
 *   write|update AtomicLong.value >= 2 by main
 * about: references to methods of the JDK that nothing of the program calls: bound, unbound, static, inherited, with numbers of two slots, in an
 *   interface, in a constructor, in a class initialiser, serializable ones and constructors
 */
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

public class MethodReferences {
    interface Keeper {
        default Consumer<String> keep(List<String> in) {
            return in::add;
        }

        static Supplier<Integer> sizeOf(List<String> list) {
            return list::size;
        }
    }

    interface SerialFunction<A, B> extends Function<A, B>, Serializable {
    }

    static class Bag extends ArrayList<String> {
        private static final long serialVersionUID = 1;

        Consumer<String> adder() {
            return super::add;
        }
    }

    static final Map<String, Integer> COUNTS = new HashMap<>();
    static final BiFunction<String, Integer, Integer> PUT = COUNTS::put;
    final Function<String, Integer> get;

    MethodReferences() {
        get = COUNTS::get;
    }

    public static void main(String[] args) throws Exception {
        List<String> list = new ArrayList<>();
        AtomicLong sum = new AtomicLong(1);
        LongConsumer set = sum::set;
        LongUnaryOperator add = sum::addAndGet;
        BiConsumer<List<String>, String> unbound = List::add;
        ToIntFunction<List<String>> size = List::size;
        Consumer<List<String>> sort = Collections::sort;
        Function<List<String>, List<String>> copy = ArrayList::new;
        Bag bag = new Bag();
        Thread t1 = new Thread(list::clear, "t1");
        t1.start();
        t1.join();
        Thread t2 = new Thread(sum::incrementAndGet, "t2");
        t2.start();
        t2.join();
        new Keeper() { }.keep(list).accept("pear");
        unbound.accept(list, "fig");
        sort.accept(list);
        bag.adder().accept("nut");
        Consumer<String> inherited = bag::add;
        inherited.accept("oak");
        set.accept(Long.MAX_VALUE - 3);
        PUT.apply("a", 1);
        SerialFunction<List<String>, Integer> serial = List::size;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(serial);
        }
        Object back;
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            back = in.readObject();
        }
        @SuppressWarnings("unchecked")
        int kept = ((SerialFunction<List<String>, Integer>) back).apply(list);
        System.out.println(list + " " + size.applyAsInt(list) + " " + Keeper.sizeOf(list).get() + " " + copy.apply(list)
                + " " + add.applyAsLong(2) + " " + new MethodReferences().get.apply("a") + " " + bag + " " + kept);
        try {
            List<String> missing = null;
            Supplier<Integer> never = missing::size;
            System.out.println(never.get());
        } catch (NullPointerException e) {
            System.out.println("no list");
        }
    }
}
