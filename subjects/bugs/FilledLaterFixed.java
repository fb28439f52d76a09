/* fixed: FilledLater */
public class FilledLaterFixed {
    static class Parcel {
        private int weight;
        private int pieces = 1;

        void fill(int weight) {
            this.weight = weight;
        }

        int total() {
            return weight * pieces;
        }
    }

    static class Shelf {
        private Parcel parcel;

        synchronized void put(Parcel parcel) {
            this.parcel = parcel;
        }

        synchronized Parcel look() {
            return parcel;
        }
    }

    static class Work {
        private int done;

        synchronized void step() {
            done++;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Shelf shelf = new Shelf();
        Work work = new Work();
        Thread reader = new Thread(() -> {
            for (int i = 0; i < 60_000; i++) work.step();
            Parcel parcel;
            while ((parcel = shelf.look()) == null) Thread.yield();
            pause(100);
            System.out.println(parcel.total());
        }, "reader");
        reader.start();
        for (int i = 0; i < 60_000; i++) work.step();
        Parcel parcel = new Parcel();
        parcel.fill(42);
        shelf.put(parcel);
        reader.join();
    }

    private static void pause(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
