/* failure:
 *   rule: failure
 *   outcome: exception
 *   place: HiddenBranch.java:24
 * about: the failing branch is taken only by a thread that sees the second of three phases, and then again before the third.
 */
public class HiddenBranch {
    private volatile int phase;
    private volatile int[] table = {1, 2, 3};

    void advance() {
        phase = 1;
        table = null;
        phase = 2;
        table = new int[] {4, 5, 6};
        phase = 3;
    }

    int look() {
        int before = phase;
        if (before != 1) return 0;
        int after = phase;
        if (after != 2) return 0;
        return table.length;
    }

    public static void main(String[] args) throws InterruptedException {
        HiddenBranch shared = new HiddenBranch();
        Thread changes = new Thread(shared::advance, "changes");
        Thread looks = new Thread(shared::look, "looks");
        changes.start();
        looks.start();
        changes.join();
        looks.join();
    }
}
