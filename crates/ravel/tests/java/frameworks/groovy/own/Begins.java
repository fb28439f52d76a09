package groovy.own;

/** A program whose main class lies in a package that is otherwise left out, with a race. */
public class Begins {
    static int value;

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(() -> value = 1, "writer");
        thread.start();
        System.out.println(value);
        thread.join();
    }
}
