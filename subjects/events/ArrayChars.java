/* expect:
 *   thread main, t1
 *   write char[] == 2 by t1
 *   read char[] >= 1 by main
 *   fork t1 == 1 by main
 *   join t1 == 1 by main
 * about: elements of char[]
 */
public class ArrayChars {
    public static void main(String[] args) throws InterruptedException {
        char[] cells = new char[8];
        cells[0] = '\uffff';
        Thread t1 = new Thread(() -> fill(cells), "t1");
        t1.start();
        t1.join();
        System.out.println((int) cells[3]);
    }

    static void fill(char[] cells) {
        cells[3] = '\uffff';
        cells[4] = '\uffff';
    }
}
