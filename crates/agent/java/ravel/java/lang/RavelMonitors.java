package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Kind;
import jdk.internal.vm.annotation.DontInline;

/** Monitors: taken, given up, waited for and notified. */
public final class RavelMonitors {
    private RavelMonitors() {}

    public static void acquired(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        RavelPoints.step(t);
        RavelRecords.sync(t, Kind.ACQUIRE, site, RavelObjects.identity(lock));
    }

    public static void releasing(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || lock == null) return;
        caught(t);
        RavelPoints.step(t);
        RavelRecords.sync(t, Kind.RELEASE, site, RavelObjects.identity(lock));
    }

    /** Monitors of tracked JDK objects. */
    public static void jacquired(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || RavelMethods.hidden(t)) return;
        RavelPoints.step(t);
        RavelRecords.calling(t, U.getInt(t + POSITION));
        RavelRecords.sync(t, Kind.ACQUIRE, site, RavelObjects.identity(lock));
    }

    public static void jreleasing(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || RavelMethods.hidden(t) || lock == null) return;
        RavelPoints.step(t);
        RavelRecords.calling(t, U.getInt(t + POSITION));
        RavelRecords.sync(t, Kind.RELEASE, site, RavelObjects.identity(lock));
    }

    public static void waiting(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || lock == null || !Thread.holdsLock(lock)) return;
        RavelPoints.step(t);
        long object = RavelObjects.identity(lock);
        U.putLong(t + WAITING, object << 1 | 1);
        RavelRecords.sync(t, Kind.WAIT, site, object);
    }

    public static void waited(int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        long waiting = U.getLong(t + WAITING);
        if (waiting == 0) return;
        U.putLong(t + WAITING, 0);
        RavelPoints.step(t);
        RavelRecords.sync(t, Kind.RESUME, site, waiting >>> 1);
    }

    /** Stands for {@code wait(long, int)}, whose object cannot be reached on the operand stack. */
    public static void waitNanos(Object lock, long millis, int nanos, int site) throws InterruptedException {
        waiting(lock, site);
        if ((FLAGS & SEARCHING) != 0) RavelSearch.await(lock, millis, nanos);
        else lock.wait(millis, nanos);
        waited(site);
    }

    /** At the start of an exception handler: a wait may have ended by the exception. */
    public static void caught() {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) caught(t);
    }

    @DontInline
    static void caught(long t) {
        long waiting = U.getLong(t + WAITING);
        if (waiting == 0) return;
        U.putLong(t + WAITING, 0);
        RavelPoints.step(t);
        RavelRecords.sync(t, Kind.RESUME_UNNOTIFIED, 0, waiting >>> 1);
    }

    public static void notifying(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || lock == null) return;
        RavelPoints.step(t);
        RavelRecords.sync(t, Kind.NOTIFY, site, RavelObjects.identity(lock));
    }

    public static void notifyingAll(Object lock, int site) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || lock == null) return;
        RavelPoints.step(t);
        RavelRecords.sync(t, Kind.NOTIFY_ALL, site, RavelObjects.identity(lock));
    }
}
