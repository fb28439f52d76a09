/** Constructors with code before the call of the super constructor. */
public class Flexible {
    static class Base {
        final String text;
        Base(String text) { this.text = text; }
    }

    static class Derived extends Base {
        final int early;

        Derived(String number, boolean twice) {
            int value;
            try {
                value = Integer.parseInt(number);
            } catch (NumberFormatException e) {
                value = new Base("-1").text.length() * -1;
            }
            for (int i = 0; twice && i < 2; i++) {
                value *= 2;
            }
            early = value;
            super(switch (value % 3) { case 0 -> "none"; case 1 -> new String("one"); default -> "more"; } + value);
            if (text.isEmpty()) throw new IllegalStateException();
        }
    }

    public static void main(String[] args) {
        System.out.println(new Derived("4", true).text);
        System.out.println(new Derived("x", false).text + new Derived("3", false).early);
    }
}
