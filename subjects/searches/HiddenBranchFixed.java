/* fixed: HiddenBranch
 * The phases are changed and looked at under a lock.
 */
public class HiddenBranchFixed {
    private volatile int phase;
    private volatile int[] table = {1, 2, 3};

    synchronized void advance() {
        phase = 1;
        table = null;
        phase = 2;
        table = new int[] {4, 5, 6};
        phase = 3;
    }

    synchronized int look() {
        int before = phase;
        if (before != 1) return 0;
        int after = phase;
        if (after != 2) return 0;
        return table.length;
    }

    public static void main(String[] args) throws InterruptedException {
        HiddenBranchFixed shared = new HiddenBranchFixed();
        Thread changes = new Thread(shared::advance, "changes");
        Thread looks = new Thread(shared::look, "looks");
        changes.start();
        looks.start();
        changes.join();
        looks.join();
    }
}
