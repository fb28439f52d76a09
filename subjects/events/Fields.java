/* expect:
 *   thread main, t1
 *   write Cell.flag == 1 by t1
 *   write Cell.small == 1 by t1
 *   write Cell.letter == 1 by t1
 *   write Cell.medium == 1 by t1
 *   write Cell.number == 1 by t1
 *   write Cell.large == 1 by t1
 *   write Cell.ratio == 1 by t1
 *   write Cell.precise == 1 by t1
 *   write Cell.name == 1 by t1
 *   read Cell.flag == 1 by main
 *   read Cell.small == 1 by main
 *   read Cell.letter == 1 by main
 *   read Cell.medium == 1 by main
 *   read Cell.number == 1 by main
 *   read Cell.large == 1 by main
 *   read Cell.ratio == 1 by main
 *   read Cell.precise == 1 by main
 *   read Cell.name == 1 by main
 *   read Cell.constant == 0
 *   read Cell.quiet == 0
 *   write Cell.quiet == 0
 *   fork t1 == 1 by main
 *   begin == 1 by t1
 *   end == 1 by t1
 *   join t1 == 1 by main
 * about: an instance field of every type, written by t1 and read by main; a final field; an object of one thread
 */
public class Fields {
    static class Cell {
        boolean flag;
        byte small;
        char letter;
        short medium;
        int number;
        long large;
        float ratio;
        double precise;
        String name;
        final int constant;
        int quiet;

        Cell(int constant) {
            this.constant = constant;
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Cell cell = new Cell(7);
        cell.quiet = 1;
        Thread t1 = new Thread(() -> {
            cell.flag = true;
            cell.small = -5;
            cell.letter = 'x';
            cell.medium = -300;
            cell.number = Integer.MIN_VALUE;
            cell.large = Long.MAX_VALUE;
            cell.ratio = 0.5f;
            cell.precise = -0.0;
            cell.name = "done";
        }, "t1");
        t1.start();
        t1.join();
        System.out.println(cell.flag + " " + cell.small + " " + cell.letter + " " + cell.medium + " " + cell.number
                + " " + cell.large + " " + cell.ratio + " " + cell.precise + " " + cell.name + " " + cell.constant);
        Cell own = new Cell(1);
        own.quiet = 3;
        System.out.println(own.quiet);
    }
}
