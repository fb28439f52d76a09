import java.util.ArrayList;
import java.util.List;

/** References to a method that a class of the program inherits from the JDK. */
public class Tags {
    static class Bag extends ArrayList<String> {
        private static final long serialVersionUID = 1;
    }

    public static void main(String[] args) throws InterruptedException {
        Bag bag = new Bag();
        List<String> some = List.of("a", "b", "c");
        List<String> others = List.of("d", "e", "f");
        Thread t1 = new Thread(() -> some.forEach(bag::add), "t1"); // some
        Thread t2 = new Thread(() -> others.forEach(bag::add), "t2"); // others
        t1.start();
        Thread.sleep(100);
        t2.start();
        t1.join();
        t2.join();
        System.out.println(bag.size() + " tags");
        if (bag.size() != 6) {
            System.exit(1);
        }
    }
}
