/* finding: lock-pattern
 * about: `contains` holds the lock of the segment and acquires that of the point twice: the point may move in between.
 */
public class Segment {
    static class Point {
        private double x;
        private double y;

        synchronized void move(double toX, double toY) {
            x = toX;
            y = toY;
        }

        synchronized double distanceTo(double otherX, double otherY) {
            return Math.hypot(x - otherX, y - otherY);
        }
    }

    private double length = 10;

    synchronized boolean contains(Point point) {
        double fromStart = point.distanceTo(0, 0);
        double fromEnd = point.distanceTo(length, 0);
        return fromStart + fromEnd <= 1.001 * length;
    }

    synchronized void grow(double by) {
        length += by;
    }
}
