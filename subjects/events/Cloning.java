/* expect:
 *   thread main, t1
 *   write Sheep.weight == 1 by t1
 *   read Sheep.weight == 1 by main
 *   write Sheep.wool == 0
 * about: a copy is another object: what t1 does to its own copy is nobody's business
 */
public class Cloning {
    static class Sheep implements Cloneable {
        int weight = 50;
        int wool;
        int[] lambs = {1, 2};

        @Override
        public Sheep clone() {
            try {
                Sheep copy = (Sheep) super.clone();
                copy.lambs = lambs.clone();
                return copy;
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Sheep dolly = new Sheep();
        Thread t1 = new Thread(() -> {
            dolly.weight = 60;
            Sheep copy = dolly.clone();
            copy.wool = 5;
            copy.lambs[0] = 9;
            System.out.println(copy.weight + " " + copy.wool + " " + copy.lambs[0]);
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(dolly.weight + " " + dolly.lambs[0]);
    }
}
