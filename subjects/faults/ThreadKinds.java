/* fault:
 *   exit 0
 *   output exact
 * about: a subclass of Thread with fields, thread groups with a handler of their own, thread-locals, inherited
 *   thread-locals, names changed while running, priorities, a thread that is started twice, one that is never
 *   started
 */
public class ThreadKinds {
    static final ThreadLocal<Integer> OWN = ThreadLocal.withInitial(() -> 1);
    static final InheritableThreadLocal<String> INHERITED = new InheritableThreadLocal<>() {
        @Override
        protected String childValue(String parent) {
            return parent + "'s child";
        }
    };

    static class Worker extends Thread {
        int result;
        private final int[] steps = new int[3];

        Worker(ThreadGroup group, String name) {
            super(group, name);
        }

        @Override
        public void run() {
            OWN.set(OWN.get() + 1);
            for (int i = 0; i < steps.length; i++) {
                steps[i] = i + OWN.get();
            }
            result = steps[2];
            setName(getName() + "-renamed");
            System.out.println(getName() + " " + getThreadGroup().getName() + " " + INHERITED.get() + " "
                    + getPriority());
        }
    }

    static class Group extends ThreadGroup {
        Group(String name) {
            super(name);
        }

        @Override
        public void uncaughtException(Thread thread, Throwable e) {
            System.out.println(thread.getName() + " died: " + e.getMessage());
        }
    }

    public static void main(String[] args) throws InterruptedException {
        INHERITED.set("main");
        OWN.set(10);
        Group group = new Group("workers");
        Worker worker = new Worker(group, "one");
        worker.setPriority(Thread.MAX_PRIORITY);
        worker.start();
        worker.join();
        System.out.println(worker.result + " " + OWN.get() + " " + worker.getState());
        try {
            worker.start();
        } catch (IllegalThreadStateException e) {
            System.out.println("started twice");
        }
        Thread dies = new Thread(group, () -> {
            throw new IllegalStateException("on purpose");
        }, "dies");
        dies.start();
        dies.join();
        Thread never = new Thread(() -> System.out.println("never"));
        System.out.println(never.getState() + " " + never.isAlive());
    }
}
