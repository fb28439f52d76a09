/* fixed: DoorName */
public class DoorNameFixed {
    static class Door {
        private String owner = "nobody";
        private int given;

        synchronized String owner() {
            return owner;
        }

        synchronized void give(String guest) {
            owner = guest;
            given++;
        }

        synchronized void giveOnce(String guest) {
            if (owner.equals("nobody")) {
                give(guest);
            }
        }

        synchronized int given() {
            return given;
        }
    }

    static class Guard {
        void let(Door door, String guest) {
            door.giveOnce(guest);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Door door = new Door();
        runBoth(() -> new Guard().let(door, "ann"), () -> new Guard().let(door, "bob"));
        System.out.println("given " + door.given());
        if (door.given() != 1) {
            System.exit(1);
        }
    }

    static void runBoth(Runnable first, Runnable second) throws InterruptedException {
        Thread t1 = new Thread(first, "t1");
        Thread t2 = new Thread(() -> {
            nap(100);
            second.run();
        }, "t2");
        t1.start();
        t2.start();
        t1.join();
        t2.join();
    }

    static void nap(int millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
