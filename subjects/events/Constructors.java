/* expect:
 *   thread main, t1
 *   read Leaf.top == 1 by t1
 *   read Middle.middle == 1 by t1
 *   read Root.root == 1 by t1
 *   write Root.root == 1 by t1
 *   read Leaf.fixed == 0
 *   write Leaf.count >= 1 by t1
 * about: fields set before and after the call of the superclass's constructor, initialisers, this(...), an object whose
 *   constructor publishes it, arguments of super that branch
 */
public class Constructors {
    static class Root {
        int root = 1;

        Root(int by) {
            root += by;
            hook();
        }

        void hook() {
        }
    }

    static class Middle extends Root {
        int middle;

        {
            middle = 10;
        }

        Middle(boolean large) {
            super(large ? 100 : 50);
            middle++;
        }
    }

    static class Leaf extends Middle {
        static int count;
        static Leaf last;
        final int fixed;
        int top;

        Leaf() {
            this(7);
        }

        Leaf(int top) {
            super(top > 5);
            this.fixed = top;
            this.top = top;
            count++;
            last = this;
        }

        @Override
        void hook() {
            top = -1;
        }
    }

    /** A captured variable is stored before the superclass's constructor runs. */
    static Root capturing(int captured) {
        return new Root(1) {
            @Override
            void hook() {
                root += captured;
            }
        };
    }

    public static void main(String[] args) throws InterruptedException {
        new Leaf();
        Leaf leaf = Leaf.last;
        Thread t1 = new Thread(() -> {
            System.out.println(leaf.top + leaf.middle + leaf.root + leaf.fixed);
            leaf.root = 5;
            new Leaf(3);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(leaf.root + " " + Leaf.count + " " + Leaf.last.top + " " + capturing(40).root);
    }
}
