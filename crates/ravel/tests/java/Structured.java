import java.util.concurrent.StructuredTaskScope;

/**
 * Scoped values, stable values and structured concurrency. The JVM forgets a thread's bindings when an exception leaves a method. All that
 * the tasks share is ordered.
 */
public class Structured {
    private static final ScopedValue<String> USER = ScopedValue.newInstance();
    private static int count;

    private static final StableValue<Box> STABLE = StableValue.of();
    private static final java.util.function.Supplier<Box> ONCE = StableValue.supplier(() -> new Box(5));

    static class Box {
        int value;

        Box(int value) {
            this.value = value;
        }
    }

    private static synchronized int count() {
        return ++count;
    }

    public static void main(String[] args) throws Exception {
        try (var scope = StructuredTaskScope.open()) {
            var one = scope.fork(Structured::count);
            var two = scope.fork(Structured::count);
            scope.join();
            System.out.println(one.get() + two.get());
        }
        ScopedValue.where(USER, "bob").run(() -> {
            try (var scope = StructuredTaskScope.open(StructuredTaskScope.Joiner.<String>anySuccessfulResultOrThrow())) {
                scope.fork(USER::get);
                scope.fork(USER::get);
                System.out.println(scope.join());
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        Box box = new Box(1);
        try (var scope = StructuredTaskScope.open()) {
            scope.fork(() -> box.value++);
            scope.join();
        }
        try (var scope = StructuredTaskScope.open(StructuredTaskScope.Joiner.<Integer>allSuccessfulOrThrow())) {
            for (int i = 0; i < 3; i++) scope.fork(() -> box.value + STABLE.orElseSet(() -> new Box(7)).value + ONCE.get().value);
            System.out.println(scope.join().mapToInt(task -> task.get()).sum());
        }
        box.value++;
        System.out.println(count());
    }
}
