import groovy.ravel.Library;

/**
 * Hands work over by a library that is not recorded, in each of the ways that the arguments name. Order proves that nothing races. With
 * {@code early} as the last argument, the program touches the cell after it has handed it over, which is a race.
 */
public class Ordered {
    static class Cell {
        int value;
    }

    static Library.Slot slot(String way) {
        switch (way) {
            case "VolatileField": return new Library.VolatileField();
            case "InheritedField": return new Library.InheritedField();
            case "NestedField": return new Library.NestedField();
            case "StaticField": return new Library.StaticField();
            case "Monitor": return new Library.Monitor();
            case "SynchronizedMethods": return new Library.SynchronizedMethods();
            case "Promise": return new Library.Promise();
            case "Updater": return new Library.Updater();
            case "Handle": return new Library.Handle();
            case "Locked": return new Library.Locked();
            case "Latch": return new Library.Latch();
            case "Parked": return new Library.Parked();
            default: throw new IllegalArgumentException(way);
        }
    }

    public static void main(String[] args) throws Exception {
        boolean early = args[args.length - 1].equals("early");
        for (String way : args) {
            if (way.equals("early")) continue;
            if (way.equals("Pool")) {
                pools(early);
            } else {
                handOver(slot(way), early);
            }
        }
        System.out.println("end");
    }

    static void handOver(Library.Slot slot, boolean early) throws Exception {
        Cell cell = new Cell();
        Thread taker = new Thread(() -> {
            Cell taken = (Cell) slot.take();
            System.out.println(taken.value > 0);
        }, "taker");
        taker.start();
        Thread putter = new Thread(() -> {
            if (!early) cell.value = 1;
            slot.put(cell);
            if (early) cell.value = 1;
        }, "putter");
        putter.start();
        taker.join();
        putter.join();
    }

    static void pools(boolean early) throws Exception {
        Cell cell = new Cell();
        Library.Pool one = new Library.Pool();
        Library.Pool two = new Library.Pool();
        one.start();
        two.start();
        one.submit(() -> cell.value++);
        if (!early) one.await(1);
        two.submit(() -> cell.value++);
        two.await(1);
        one.await(1);
    }
}
