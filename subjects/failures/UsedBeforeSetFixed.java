/* fixed: UsedBeforeSet */
public class UsedBeforeSetFixed {
    private StringBuilder text;

    synchronized void make() {
        text = new StringBuilder("made");
        notifyAll();
    }

    synchronized StringBuilder get() throws InterruptedException {
        while (text == null) {
            wait();
        }
        return text;
    }

    void use() {
        try {
            System.out.println(get().length());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] args) throws InterruptedException {
        UsedBeforeSetFixed shared = new UsedBeforeSetFixed();
        Thread maker = new Thread(shared::make, "maker");
        Thread user = new Thread(shared::use, "user");
        maker.start();
        Thread.sleep(100);
        user.start();
        maker.join();
        user.join();
    }
}
