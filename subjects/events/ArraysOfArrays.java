/* expect:
 *   thread main, t1
 *   read Object[] >= 3 by t1
 *   write int[] == 2 by t1
 *   write Object[] == 1 by t1
 *   read int[] >= 1 by main
 * about: rows are read as references, cells written as ints; a row is replaced
 */
public class ArraysOfArrays {
    public static void main(String[] args) throws InterruptedException {
        int[][] grid = new int[3][4];
        grid[0][0] = 1;
        grid[1][0] = 1;
        grid[2][0] = 1;
        int[][][] cube = {{{1, 2}, {3}}, {{4}}};
        Thread t1 = new Thread(() -> {
            grid[0][1] = 5;
            grid[1][2] = cube[0].length;
            grid[2] = null;
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(grid[0][1] + grid[1][2] + " " + (grid[2] == null) + " " + cube[0][0][1]);
    }
}
