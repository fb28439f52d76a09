/* expect:
 *   thread main, t1
 *   write InnerClasses.outer == 1 by t1
 *   write Inner.inner == 1 by t1
 *   write Nested.nested == 1 by t1
 *   write Local.local == 0
 * about: inner, nested, local and anonymous classes that reach each other's private fields
 */
public class InnerClasses {
    private int outer;

    class Inner {
        private int inner;

        void set() {
            outer = 1;
            inner = 2;
        }
    }

    static class Nested {
        private int nested;
    }

    public static void main(String[] args) throws InterruptedException {
        InnerClasses object = new InnerClasses();
        Inner inner = object.new Inner();
        Nested nested = new Nested();
        Runnable anonymous = new Runnable() {
            @Override
            public void run() {
                class Local {
                    int local;
                }
                Local local = new Local();
                local.local = 3;
                inner.set();
                nested.nested = local.local;
            }
        };
        Thread t1 = new Thread(anonymous, "t1");
        t1.start();
        t1.join();
        System.out.println(object.outer + " " + inner.inner + " " + nested.nested);
    }
}
