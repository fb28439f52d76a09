/* fault:
 *   exit 0
 *   output exact
 * about: method handles on fields, methods and constructors, a proxy, hidden classes of lambdas, string
 *   concatenation by invokedynamic, a serializable lambda
 */
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Proxy;
import java.util.function.IntSupplier;

public class MethodHandles17 {
    static class Cell {
        int value;

        synchronized int add(int amount) {
            return value += amount;
        }
    }

    interface Greeter {
        String greet(String name);
    }

    interface SerialSupplier extends IntSupplier, Serializable {
    }

    public static void main(String[] args) throws Throwable {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodHandle getter = lookup.findGetter(Cell.class, "value", int.class);
        MethodHandle setter = lookup.findSetter(Cell.class, "value", int.class);
        MethodHandle add = lookup.findVirtual(Cell.class, "add", MethodType.methodType(int.class, int.class));
        Cell cell = (Cell) lookup.findConstructor(Cell.class, MethodType.methodType(void.class)).invoke();
        setter.invoke(cell, 3);
        Thread t1 = new Thread(() -> {
            try {
                int sum = (int) add.invokeExact(cell, 4);
                System.out.println("sum " + sum);
            } catch (Throwable e) {
                throw new AssertionError(e);
            }
        }, "t1");
        t1.start();
        t1.join();
        System.out.println((int) getter.invokeExact(cell));
        MethodHandle filtered = MethodHandles.filterReturnValue(getter,
                lookup.findStatic(Integer.class, "toHexString", MethodType.methodType(String.class, int.class)));
        cell.value = 255;
        System.out.println((String) filtered.invoke(cell));
        Greeter greeter = (Greeter) Proxy.newProxyInstance(MethodHandles17.class.getClassLoader(),
                new Class<?>[] {Greeter.class}, (proxy, method, arguments) -> method.getName() + " " + arguments[0]);
        System.out.println(greeter.greet("ann"));
        SerialSupplier supplier = () -> cell.value + 1;
        System.out.println(supplier.getAsInt() + " " + supplier.getClass().isHidden());
        long wide = 1L << 40;
        System.out.println("a" + 1 + 'c' + wide + 2.5 + null + cell.value);
    }
}
