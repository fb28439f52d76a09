import com.vmlens.api.AllInterleavings;
import org.junit.jupiter.api.Test;

public class @NAME@Test {
    @Test
    public void interleavings() throws InterruptedException {
        try (AllInterleavings all = new AllInterleavings("@NAME@")) {
            while (all.hasNext()) {
                @BODY@
            }
        }
    }

    @HELPERS@
}
