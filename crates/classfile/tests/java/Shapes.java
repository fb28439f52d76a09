import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/** Code of many shapes: loops back to the first instruction, switches, nested handlers, constructors with arguments. */
public class Shapes {
    interface Shape { default int area() { return 0; } }

    record Square(int side) implements Shape { public int area() { return side * side; } }

    enum Colour { RED, GREEN, BLUE }

    static class Base {
        final List<Object> seen = new ArrayList<>();
        Base(Object first, int count) { for (int i = 0; i < count; i++) seen.add(first); }
    }

    static class Derived extends Base {
        long wide = 7L;
        Derived(boolean choice, Object other) {
            super(choice ? new StringBuilder("yes").append(new int[] {1, 2}.length) : new Base(other, 1).seen, choice ? 2 : 3);
            wide += seen.size();
        }
        Derived() { this(true, null); }
        synchronized long guarded(long by) { synchronized (seen) { wide += by; return wide; } }
    }

    static int loopFromStart(int n) {
        do { n -= 3; } while (n > 0);
        return n;
    }

    static String dense(int n) {
        switch (n) {
            case 0: return "zero";
            case 1: case 2: return "few";
            case 3: n++;
            case 4: return "four" + n;
            default: return "many";
        }
    }

    static int sparse(int n) {
        switch (n) { case -1000: return 1; case 5: return 2; case 1 << 20: return 3; default: return 4; }
    }

    static String words(String s) {
        switch (s) { case "Aa": return "first"; case "BB": return "second"; default: return "none"; }
    }

    static String handlers(int n) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < n; i++) {
            try {
                try {
                    if (i == 1) throw new IllegalStateException("one");
                    if (i == 2) continue;
                    if (i == 3) out.append(1 / (i - 3));
                    out.append(i);
                } catch (ArithmeticException e) {
                    out.append('/');
                } finally {
                    out.append('f');
                }
            } catch (IllegalStateException e) {
                out.append(e.getMessage());
            }
        }
        return out.toString();
    }

    static String colours() {
        StringBuilder out = new StringBuilder();
        for (Colour colour : Colour.values()) {
            switch (colour) { case RED: out.append('r'); break; case BLUE: out.append('b'); break; default: out.append('?'); }
        }
        return out.toString();
    }

    static int manyLocals() {
        int a = 1; long b = 2; double c = 3; float d = 4; String e = "5"; int[][] f = new int[2][3];
        IntSupplier supplier = () -> a + (int) b;
        for (int i = 0; i < 300; i++) { f[i % 2][i % 3] += 1000; d += i; }
        return supplier.getAsInt() + (int) (c + d) + e.length() + f[1][2];
    }

    public static void main(String[] args) throws Exception {
        System.out.println(loopFromStart(10));
        for (int i = 0; i < 6; i++) System.out.println(dense(i));
        System.out.println(sparse(-1000) + sparse(5) * 10 + sparse(1 << 20) * 100 + sparse(0) * 1000);
        System.out.println(words("Aa") + words("BB") + words("C"));
        System.out.println(handlers(5));
        System.out.println(colours());
        System.out.println(manyLocals());
        System.out.println(new Derived().guarded(5) + new Derived(false, "x").guarded(5));
        System.out.println(new Square(3).area() + new Shape() { }.area());
        Thread thread = new Thread(() -> System.out.println(handlers(2)));
        thread.start();
        thread.join();
        try {
            Object o = "text";
            System.out.println((Integer) o);
        } catch (ClassCastException e) {
            System.out.println("cast at line " + e.getStackTrace()[0].getLineNumber());
        }
    }
}
