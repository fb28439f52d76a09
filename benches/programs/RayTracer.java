/*
 * A ray tracer with spheres, a floor, shadows and mirrors. The threads take lines of the picture from a shared counter;
 * every line is computed by one thread, so the picture does not depend on who does which.
 *
 * Arguments: size (width and height of the picture, default 800), threads (default 2).
 */
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

public class RayTracer {
    record Vec(double x, double y, double z) {
        Vec plus(Vec o) {
            return new Vec(x + o.x, y + o.y, z + o.z);
        }

        Vec minus(Vec o) {
            return new Vec(x - o.x, y - o.y, z - o.z);
        }

        Vec times(double f) {
            return new Vec(x * f, y * f, z * f);
        }

        double dot(Vec o) {
            return x * o.x + y * o.y + z * o.z;
        }

        Vec unit() {
            return times(1 / Math.sqrt(dot(this)));
        }

        Vec mirrored(Vec normal) {
            return minus(normal.times(2 * dot(normal)));
        }
    }

    static final class Ray {
        final Vec origin;
        final Vec direction;

        Ray(Vec origin, Vec direction) {
            this.origin = origin;
            this.direction = direction;
        }

        Vec at(double t) {
            return origin.plus(direction.times(t));
        }
    }

    static final class Hit {
        double t = Double.POSITIVE_INFINITY;
        Shape shape;

        void offer(double at, Shape of) {
            if (at > 1e-6 && at < t) {
                t = at;
                shape = of;
            }
        }
    }

    abstract static class Shape {
        final Vec colour;
        final double mirror;

        Shape(Vec colour, double mirror) {
            this.colour = colour;
            this.mirror = mirror;
        }

        abstract void intersect(Ray ray, Hit hit);

        abstract Vec normal(Vec point);

        Vec colourAt(Vec point) {
            return colour;
        }
    }

    static final class Sphere extends Shape {
        private final Vec centre;
        private final double radius;

        Sphere(Vec centre, double radius, Vec colour, double mirror) {
            super(colour, mirror);
            this.centre = centre;
            this.radius = radius;
        }

        @Override
        void intersect(Ray ray, Hit hit) {
            Vec to = centre.minus(ray.origin);
            double along = to.dot(ray.direction);
            double off = along * along - to.dot(to) + radius * radius;
            if (off >= 0) {
                double half = Math.sqrt(off);
                hit.offer(along - half, this);
                hit.offer(along + half, this);
            }
        }

        @Override
        Vec normal(Vec point) {
            return point.minus(centre).unit();
        }
    }

    static final class Floor extends Shape {
        private final double height;

        Floor(double height, Vec colour, double mirror) {
            super(colour, mirror);
            this.height = height;
        }

        @Override
        void intersect(Ray ray, Hit hit) {
            if (Math.abs(ray.direction.y) > 1e-9) {
                hit.offer((height - ray.origin.y) / ray.direction.y, this);
            }
        }

        @Override
        Vec normal(Vec point) {
            return new Vec(0, 1, 0);
        }

        @Override
        Vec colourAt(Vec point) {
            long square = (long) Math.floor(point.x) + (long) Math.floor(point.z);
            return (square & 1) == 0 ? colour : new Vec(0.1, 0.1, 0.1);
        }
    }

    static final class Scene {
        final List<Shape> shapes = new ArrayList<>();
        final List<Vec> lights = new ArrayList<>();

        Scene() {
            for (int i = 0; i < 8; i++) {
                double angle = i * Math.PI / 4;
                shapes.add(new Sphere(new Vec(3 * Math.cos(angle), 0.2 * i, 6 + 3 * Math.sin(angle)), 0.9,
                        new Vec(0.3 + 0.08 * i, 0.9 - 0.1 * i, 0.5), 0.1 * (i % 4)));
            }
            shapes.add(new Floor(-1, new Vec(0.9, 0.9, 0.8), 0.1));
            lights.add(new Vec(-5, 8, -2));
            lights.add(new Vec(6, 9, 3));
        }

        Hit nearest(Ray ray) {
            Hit hit = new Hit();
            for (Shape shape : shapes) {
                shape.intersect(ray, hit);
            }
            return hit;
        }

        Vec trace(Ray ray, int depth) {
            Hit hit = nearest(ray);
            if (hit.shape == null) {
                return new Vec(0.3, 0.4, 0.5 + 0.3 * ray.direction.y);
            }
            Vec point = ray.at(hit.t);
            Vec normal = hit.shape.normal(point);
            Vec colour = hit.shape.colourAt(point);
            Vec sum = colour.times(0.1);
            for (Vec light : lights) {
                Vec to = light.minus(point).unit();
                double lit = to.dot(normal);
                if (lit > 0 && nearest(new Ray(point, to)).shape == null) {
                    sum = sum.plus(colour.times(0.45 * lit));
                }
            }
            if (depth > 0 && hit.shape.mirror > 0) {
                Vec reflected = trace(new Ray(point, ray.direction.mirrored(normal).unit()), depth - 1);
                sum = sum.plus(reflected.times(hit.shape.mirror));
            }
            return sum;
        }
    }

    static final class Picture {
        private final int[][] pixels;
        private int linesDone;

        Picture(int size) {
            pixels = new int[size][size];
        }

        int size() {
            return pixels.length;
        }

        void line(int y, int[] colours) {
            synchronized (this) {
                linesDone++;
            }
            System.arraycopy(colours, 0, pixels[y], 0, colours.length);
        }

        long checksum() {
            long sum = 0;
            for (int[] row : pixels) {
                for (int pixel : row) {
                    sum = sum * 31 + pixel;
                }
            }
            return sum;
        }
    }

    static int pack(Vec colour) {
        int r = (int) (255 * Math.min(1, colour.x));
        int g = (int) (255 * Math.min(1, colour.y));
        int b = (int) (255 * Math.min(1, colour.z));
        return r << 16 | g << 8 | b;
    }

    static void render(Scene scene, Picture picture, AtomicInteger next) {
        int size = picture.size();
        int[] line = new int[size];
        for (int y = next.getAndIncrement(); y < size; y = next.getAndIncrement()) {
            for (int x = 0; x < size; x++) {
                Vec sum = new Vec(0, 0, 0);
                for (int sample = 0; sample < 2; sample++) {
                    double dx = (x + 0.5 * sample - size * 0.5) / size;
                    double dy = (size * 0.5 - y - 0.5 * sample) / size;
                    sum = sum.plus(scene.trace(new Ray(new Vec(0, 1, -3), new Vec(dx, dy, 1).unit()), 3));
                }
                line[x] = pack(sum.times(0.5));
            }
            picture.line(y, line);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int size = args.length > 0 ? Integer.parseInt(args[0]) : 800;
        int threads = args.length > 1 ? Integer.parseInt(args[1]) : 2;
        Scene scene = new Scene();
        Picture picture = new Picture(size);
        AtomicInteger next = new AtomicInteger();
        Thread[] workers = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            workers[i] = new Thread(() -> render(scene, picture, next), "tracer-" + i);
            workers[i].start();
        }
        for (Thread worker : workers) {
            worker.join();
        }
        System.out.println("ray tracer " + size + ": lines " + picture.linesDone + ", checksum "
                + Long.toHexString(picture.checksum()));
    }
}
