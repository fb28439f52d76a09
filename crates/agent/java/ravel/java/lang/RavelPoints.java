package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Point;
import jdk.internal.vm.annotation.ForceInline;

/** The position of a thread: how many points it has passed, recorded or not. */
final class RavelPoints {
    private RavelPoints() {}

    /** A point that is in no run. */
    @ForceInline
    static void step(long t) {
        if ((FLAGS & FORCING) != 0) whole(t);
        U.putInt(t + POSITION, U.getInt(t + POSITION) + U.getInt(t + STEP));
    }

    /**
     * A point of a run: of accesses that follow each other in straight-line code. The first moves the position for all of them,
     * since moving it is most of what a point costs; {@code code} is {@code points of the run << 27 | points still to come << 22 | site},
     * with no points of the run but at the first. A run that an exception cuts short counts as whole.
     *
     * <p>In forced runs each point moves the position by itself, to be asked for.
     */
    @ForceInline
    static void pass(long t, int code) {
        if ((FLAGS & FORCING) != 0) {
            if (code >>> Point.MOVE != 0) begin(t, code >>> Point.MOVE);
            U.putInt(t + POSITION, U.getInt(t + POSITION) + U.getInt(t + STEP));
        } else if (code >>> Point.MOVE != 0) {
            U.putInt(t + POSITION, U.getInt(t + POSITION) + (code >>> Point.MOVE) * U.getInt(t + STEP));
        }
    }

    /** The position of a point of a run. */
    @ForceInline
    static int position(long t, int code) {
        if ((FLAGS & FORCING) != 0) return U.getInt(t + POSITION);
        return U.getInt(t + POSITION) - (code >>> Point.COMING & Point.LONGEST) * U.getInt(t + STEP);
    }

    /** In forced runs: a run of so many points begins. */
    private static void begin(long t, int points) {
        whole(t);
        if (U.getInt(t + STEP) != 0) U.putInt(t + RUN_END, U.getInt(t + POSITION) + points);
    }

    /** In forced runs: a run that was cut short counts as whole, as it does where it is recorded. */
    static void whole(long t) {
        int end = U.getInt(t + RUN_END);
        if (U.getInt(t + STEP) != 0 && end - U.getInt(t + POSITION) > 0) U.putInt(t + POSITION, end);
    }
}
