import java.util.concurrent.StructuredTaskScope;

/** Scoped values and structured concurrency: the JVM forgets a thread's bindings when an exception leaves a method. */
public class Structured {
    private static final ScopedValue<String> USER = ScopedValue.newInstance();
    private static int count;

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
        System.out.println(count);
    }
}
