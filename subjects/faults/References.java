/* fault:
 *   exit 0
 *   output exact
 * about: weak and phantom references with a queue, a Cleaner, a WeakHashMap: recording must not keep objects
 *   alive
 */
import java.lang.ref.Cleaner;
import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.WeakHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

public class References {
    static class Resource {
        int uses;
        final int[] cells = new int[16];

        synchronized void use() {
            uses++;
            cells[0]++;
        }
    }

    static Resource made() throws InterruptedException {
        Resource resource = new Resource();
        Thread t1 = new Thread(resource::use, "t1");
        t1.start();
        t1.join();
        resource.use();
        return resource;
    }

    static boolean collected(WeakReference<?> reference) throws InterruptedException {
        for (int i = 0; i < 50 && reference.get() != null; i++) {
            System.gc();
            Thread.sleep(10);
        }
        return reference.get() == null;
    }

    public static void main(String[] args) throws InterruptedException {
        ReferenceQueue<Object> queue = new ReferenceQueue<>();
        CountDownLatch cleaned = new CountDownLatch(1);
        Cleaner cleaner = Cleaner.create();
        Map<Object, String> notes = new WeakHashMap<>();
        Resource resource = made();
        WeakReference<Resource> weak = new WeakReference<>(resource);
        WeakReference<int[]> cells = new WeakReference<>(resource.cells);
        PhantomReference<Object> phantom = new PhantomReference<>(resource, queue);
        cleaner.register(resource, cleaned::countDown);
        notes.put(resource, "note");
        System.out.println("uses " + resource.uses + ", notes " + notes.size());
        resource = null;
        System.out.println("collected " + collected(weak) + " " + collected(cells));
        System.out.println("cleaned " + cleaned.await(5, TimeUnit.SECONDS));
        Reference<?> queued = queue.remove(5000);
        System.out.println("queued " + (queued == phantom) + ", notes " + notes.size());
    }
}
