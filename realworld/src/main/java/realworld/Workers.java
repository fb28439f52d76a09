package realworld;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

/** Runs the same job in several named threads and hands on the first failure. */
final class Workers {
    /** A job that is told which worker runs it. */
    interface Job {
        void run(int worker) throws Exception;
    }

    private Workers() {
    }

    static void run(String name, int count, Job job) throws Exception {
        List<FutureTask<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int worker = i;
            Callable<Void> call = () -> {
                job.run(worker);
                return null;
            };
            FutureTask<Void> task = new FutureTask<>(call);
            tasks.add(task);
            new Thread(task, name + "-" + i).start();
        }
        for (FutureTask<Void> task : tasks) {
            task.get();
        }
    }
}
