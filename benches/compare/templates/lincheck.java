import org.jetbrains.lincheck.Lincheck;

public class @NAME@Test {
    public static void main(String[] args) {
        Lincheck.runConcurrentTest(() -> {
            try {
                @BODY@
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
    }

    @HELPERS@
}
