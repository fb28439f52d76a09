/* expect:
 *   thread main, t1
 *   write Base.shared == 1 by t1
 *   write Derived.shared == 1 by t1
 *   write Base.plain == 1 by t1
 *   acquire Derived == 1 by t1
 *   enter Derived.set == 1 by t1
 *   enter Base.set == 1 by t1
 * about: a field hidden by one of the same name, an inherited field, super calls, both synchronized on one object
 */
public class Inheritance {
    static class Base {
        int shared;
        int plain;

        synchronized void set(int to) {
            shared = to;
        }
    }

    static class Derived extends Base {
        int shared;

        @Override
        synchronized void set(int to) {
            super.set(to + 1);
            shared = to;
            plain = to + 2;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Derived derived = new Derived();
        derived.set(1);
        Thread t1 = new Thread(() -> derived.set(10), "t1");
        t1.start();
        t1.join();
        System.out.println(derived.shared + " " + ((Base) derived).shared + " " + derived.plain);
    }
}
