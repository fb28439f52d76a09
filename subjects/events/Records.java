/* expect:
 *   thread main, t1
 *   read Point.x == 0
 *   write Holder.point == 1 by t1
 *   read Holder.point == 1 by main
 *   read Object[] >= 1 by t1
 * about: records are final all through; their generated methods, a compact constructor, a varargs record
 */
public class Records {
    record Point(int x, int y) implements Comparable<Point> {
        static final Point ORIGIN = new Point(0, 0);

        Point {
            if (x < 0) {
                throw new IllegalArgumentException("negative");
            }
        }

        @Override
        public int compareTo(Point other) {
            return Integer.compare(x, other.x);
        }
    }

    record Path(String name, Point... points) {
    }

    static class Holder {
        Point point = Point.ORIGIN;
    }

    public static void main(String[] args) throws InterruptedException {
        Holder holder = new Holder();
        Path path = new Path("p", new Point(1, 2), new Point(3, 4));
        Thread t1 = new Thread(() -> {
            Point second = path.points()[1];
            holder.point = new Point(second.x() + 1, second.y());
        }, "t1");
        path.points()[0] = Point.ORIGIN;
        t1.start();
        t1.join();
        Point point = holder.point;
        System.out.println(point + " " + point.equals(new Point(4, 4)) + " " + point.hashCode() + " "
                + point.compareTo(Point.ORIGIN));
        try {
            new Point(-1, 0);
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
    }
}
