/* fault:
 *   exit 0
 *   output exact
 * about: arrays of arrays, clones of arrays and objects (deep and shallow), array covariance, zero length, large
 *   arrays
 */
import java.util.Arrays;

public class ArraysAndClones {
    static class Tree implements Cloneable {
        int[] values = {1, 2};
        Tree child;

        @Override
        public Tree clone() throws CloneNotSupportedException {
            Tree copy = (Tree) super.clone();
            copy.values = values.clone();
            copy.child = child == null ? null : child.clone();
            return copy;
        }
    }

    public static void main(String[] args) throws Exception {
        int[][] grid = {{1, 2}, {3}, {}};
        int[][] shallow = grid.clone();
        long[][][] cube = new long[2][3][4];
        Tree tree = new Tree();
        tree.child = new Tree();
        Thread t1 = new Thread(() -> {
            grid[0][0] = 9;
            grid[1] = new int[] {7, 7};
            cube[1][2][3] = 1L << 50;
            tree.child.values[1] = 5;
        }, "t1");
        t1.start();
        t1.join();
        Tree copy = tree.clone();
        copy.child.values[0] = 100;
        System.out.println(Arrays.deepToString(grid) + Arrays.deepToString(shallow) + cube[1][2][3]);
        System.out.println(tree.child.values[0] + " " + copy.child.values[0] + " " + copy.child.values[1]);
        Object[] objects = new Integer[] {3, 1, 2};
        Arrays.sort(objects);
        System.out.println(Arrays.toString(objects) + objects.getClass().getSimpleName() + new int[0].length);
        byte[] large = new byte[1 << 20];
        large[large.length - 1] = 7;
        byte[] copied = Arrays.copyOf(large, large.length + 1);
        System.out.println(copied[large.length - 1] + " " + Arrays.hashCode(copied));
    }
}
