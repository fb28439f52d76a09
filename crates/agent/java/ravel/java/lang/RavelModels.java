package java.lang;

import static java.lang.RavelLayout.Block.*;
import static java.lang.RavelLayout.Flag.*;
import static java.lang.RavelLayout.Hash.MIX;
import static java.lang.RavelTables.*;

import java.lang.RavelLayout.Effect;
import java.lang.RavelLayout.Kind;
import java.lang.RavelLayout.Late;
import java.lang.RavelLayout.Model;
import java.lang.RavelLayout.ModelFrame;
import java.lang.RavelLayout.Shift;
import jdk.internal.vm.annotation.DontInline;

/**
 * Modelled methods of the JDK: the table in models.rs says what each of them means to the threads that call it. The code inside
 * is hidden, except application code that it calls back.
 */
public final class RavelModels {
    private RavelModels() {}

    /** With the number of a thread that another one joins: the limit of that wait is short. */
    private static final long LIMITED = 1L << 32;

    public static void in(Object self, Object argument, int model) {
        enterModel(self, argument, -1, model);
    }

    /** A modelled method whose key is an index. */
    public static void in(Object self, int index, int model) {
        enterModel(self, null, index, model);
    }

    @DontInline
    private static void enterModel(Object self, Object argument, int index, int model) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        long top = U.getLong(t + TOP);
        int effect = model & Model.EFFECT;
        boolean outside = RavelMethods.isOutside(t, top);
        // A task that a thread runs while it waits for another is run all the same.
        boolean inside = top == U.getLong(t + OPAQUE);
        // How many parts of a task are left is the pool's own affair: what completes it is known from elsewhere.
        boolean pending = self instanceof java.util.concurrent.CountedCompleter && argument instanceof java.lang.invoke.VarHandle;
        boolean framework = U.getInt(t + CALL) == RavelFrameworks.CALL_OF_FRAMEWORK;
        // The state of a lock belongs to no thread alone.
        boolean hasState = (model >>> Model.FIELD & Model.FIELDS) != 0 && !changesLock(effect);
        if (pending || inside && effect != Effect.RUN || outside && (model & Model.ALWAYS) == 0 && !framework) {
            if ((FLAGS & SEARCHING) != 0) RavelSearch.sending(t, self, effect);
            U.putInt(t + NEST, U.getInt(t + NEST) + 1);
            return;
        }
        long m = U.getLong(t + MODEL);
        if (m == U.getLong(t + MODEL_BASE) + ModelFrame.STACK) {
            U.putInt(t + NEST, U.getInt(t + NEST) + 1);
            return;
        }
        // The JDK loads classes before it comes to the method that was called.
        if (framework && effect != Effect.HIDE) U.putInt(t + CALL, 0);
        if (framework && enterFramework(t, m, top, outside || index >= 0, self, argument, model)) return;
        if (hasState && (model & Model.THROUGH_HANDLE) == 0 && RavelObjects.untracked(self)) {
            U.putInt(t + NEST, U.getInt(t + NEST) + 1);
            return;
        }
        // A method that only hides may run in another thread in the next run: it is no point of the program.
        // Nor is one by which a framework orders threads: how often it does differs from run to run.
        boolean point = !outside && !inside && effect != Effect.HIDE && (!framework || hasState);
        if (point) {
            if ((FLAGS & SEARCHING) != 0) {
                RavelPoints.whole(t);
                RavelSearch.call(t, self, effect);
            } else if ((FLAGS & FORCING) != 0) {
                RavelForced.ask(t);
            }
            RavelPoints.step(t);
        }
        if ((FLAGS & SEARCHING) != 0) RavelSearch.sending(t, self, effect);
        long object = self == null ? 0 : RavelObjects.identity(self);
        if ((model & Model.THROUGH_HANDLE) != 0) {
            // Unsafe has no handle, and its field is known already.
            if (argument != null && !(argument instanceof Class)) model = RavelHandles.throughHandle(self, argument, model);
            effect = model & Model.EFFECT;
            // The field may be a volatile one that others read in the usual way.
            if (effect != Effect.GET && effect != Effect.MAP_GET) {
                RavelRepeats.writing(model >>> Model.FIELD & Model.FIELDS, U.getAndAddLong(null, SEQUENCE, 1));
                RavelFences.stores();
            }
        }
        boolean alone = hasState;
        if ((model & Model.THROUGH_HANDLE) != 0 && self == argument
                && effect != Effect.MAP_GET && effect != Effect.MAP_REPLACE_IF && effect != Effect.MAP_UPDATE) {
            object = 0;
            alone = RavelFields.aloneInStatic(t, model >>> Model.FIELD & Model.FIELDS);
        } else if (alone && index >= 0 && self.getClass().isArray()) {
            alone = RavelArrays.aloneIn(t, self);
        } else if (alone) {
            alone = RavelObjects.aloneIn(t, self);
        }
        long extra = 0;
        int site = U.getInt(t + CALL);
        switch (effect) {
            case Effect.LOCK: if ((FLAGS & FORCING) != 0) Ravel.want(t, object); break;
            case Effect.UNLOCK: changed(t, site, model, object); RavelRecords.sync(t, Kind.RELEASE, site, object); break;
            case Effect.UNLOCK_SHARED: changed(t, site, model, object); RavelRecords.sync(t, Kind.RELEASE_SHARED, site, object); break;
            case Effect.TO_SHARED:
                RavelRecords.sync(t, Kind.ACQUIRE_SHARED, site, object);
                RavelRecords.sync(t, Kind.RELEASE, site, object);
                break;
            case Effect.AWAIT: RavelRecords.sync(t, Kind.WAIT, site, object); break;
            case Effect.SIGNAL: RavelRecords.sync(t, Kind.NOTIFY, site, object); break;
            case Effect.SIGNAL_ALL: RavelRecords.sync(t, Kind.NOTIFY_ALL, site, object); break;
            case Effect.SEND: case Effect.EXCHANGE:
                // It may speak for a thread that has ended.
                if (argument instanceof Thread && RavelThreads.hasEnded(((Thread) argument).ravel$n)) {
                    RavelRecords.sync(t, Kind.JOIN, site, ((Thread) argument).ravel$n - 1);
                }
                RavelRecords.sync(t, Kind.SEND, site, object);
                break;
            case Effect.BARRIER:
                RavelRecords.sync(t, Kind.SEND, site, object);
                // The last to come may run an action for all.
                RavelRecords.sync(t, Kind.RECEIVE, site, object);
                break;
            case Effect.TAKE_PERMITS: case Effect.TRY_PERMITS: case Effect.DRAIN_PERMITS:
                RavelPermits.of(object, self);
                extra = index < 0 ? 1 : index;
                break;
            case Effect.GIVE_PERMITS:
                RavelPermits.of(object, self).give(U.getInt(t + THREAD), index < 0 ? 1 : index);
                changed(t, site, model, object);
                RavelRecords.sync(t, Kind.SEND, site, object);
                break;
            case Effect.RUN: RavelRecords.sync(t, Kind.RECEIVE, site, object); break;
            case Effect.MONITOR: RavelRecords.sync(t, Kind.ACQUIRE, site, object); break;
            case Effect.JOIN:
                extra = ((Thread) argument).ravel$n | (index > 0 ? LIMITED : 0);
                break;
            case Effect.SET: case Effect.STATE_UPDATE:
                extra = U.getAndAddLong(null, SEQUENCE, 1);
                RavelFences.stores();
                break;
            case Effect.MAP_GET: case Effect.MAP_PUT: case Effect.MAP_PUT_IF_ABSENT: case Effect.MAP_REMOVE:
            case Effect.MAP_COMPUTE: case Effect.MAP_REPLACE_IF: case Effect.MAP_UPDATE:
                extra = index >= 0 ? index : key(argument);
                if (index < 0 && argument != null && (FLAGS & (FORCING | SEARCHING)) == FORCING) RavelWords.key(argument, extra);
                break;
            case Effect.QUEUE_PUT: case Effect.SEND_ARGUMENT: case Effect.INVOKE:
                if (argument != null) RavelRecords.sync(t, Kind.SEND, site, extra = RavelObjects.identity(argument));
                if (self instanceof Runtime && argument instanceof Thread) RavelThreads.registered((Thread) argument);
                break;
            default: break;
        }
        U.putInt(m + ModelFrame.MODEL, model);
        U.putInt(m + ModelFrame.NEST, U.getInt(t + NEST));
        U.putLong(m + ModelFrame.OPAQUE, U.getLong(t + OPAQUE));
        U.putLong(m + ModelFrame.OBJECT, object);
        U.putLong(m + ModelFrame.EXTRA, extra);
        U.putInt(m + ModelFrame.SITE, site);
        // A collection that a framework uses may be used elsewhere where the program is not on the stack, see enterFramework.
        boolean orders = framework && (model & Model.THROUGH_HANDLE) == 0 && RavelFrameworks.isOrder(effect, true);
        if (orders && effect != Effect.MAP_GET && effect != Effect.STATE_READ) RavelRecords.sync(t, Kind.SEND, 0, object);
        U.putInt(m + ModelFrame.ALONE, (alone ? 1 : 0) | (orders ? 2 : 0));
        U.putLong(t + MODEL, m + ModelFrame.SIZE);
        U.putInt(t + NEST, 0);
        if ((point || framework && !outside) && mayBlock(effect)) RavelForced.handOver(t);
        U.putLong(t + OPAQUE, effect == Effect.RUN ? 0 : effect == Effect.MONITOR ? U.getLong(t + OPAQUE) : top);
    }

    /**
     * A framework calls a modelled method. Gives whether only the order of threads is recorded. {@code own} if a collection can only be
     * the framework's own.
     */
    private static boolean enterFramework(long t, long m, long top, boolean own, Object self, Object argument, int model) {
        int effect = model & Model.EFFECT;
        boolean handle = (model & Model.THROUGH_HANDLE) != 0;
        // Through a handle it may be a field of the program.
        boolean offset = handle && (argument == null || argument instanceof Class);
        if (offset && effect != Effect.MAP_GET && effect != Effect.MAP_REPLACE_IF && effect != Effect.MAP_UPDATE) return false;
        if (handle && !offset && RavelHandles.throughHandle(self, argument, model) != model) return false;
        if (!handle && !RavelFrameworks.isOrder(effect, own)) return false;
        long object = self == null ? 0 : handle ? RavelFrameworks.channel(self) : RavelObjects.identity(self);
        effect = RavelFrameworks.enter(t, effect, object);
        U.putInt(m + ModelFrame.MODEL, effect);
        U.putInt(m + ModelFrame.NEST, U.getInt(t + NEST));
        U.putLong(m + ModelFrame.OPAQUE, U.getLong(t + OPAQUE));
        U.putLong(m + ModelFrame.OBJECT, object);
        U.putLong(m + ModelFrame.EXTRA, 0);
        U.putInt(m + ModelFrame.SITE, 0);
        U.putInt(m + ModelFrame.ALONE, 0);
        U.putLong(t + MODEL, m + ModelFrame.SIZE);
        U.putInt(t + NEST, 0);
        U.putLong(t + OPAQUE, top);
        return true;
    }

    /** A modelled method that takes a long: the stamp of a StampedLock, the limit of a join, or the offset of Unsafe. */
    public static void in(Object self, long number, int model) {
        int effect = model & Model.EFFECT;
        switch (effect) {
            case Effect.UNLOCK_STAMP: case Effect.TO_LOCK: case Effect.TO_SHARED:
                enterModel(self, null, -1, model & ~Model.EFFECT | ofStamp(effect, number));
                break;
            case Effect.JOIN:
                enterModel(null, self, number > 0 && number <= Late.MILLIS ? (int) number : -1, model);
                break;
            default:
                enterUnsafe(self, number, model);
                break;
        }
    }

    /** What a method of a StampedLock does, which depends on what the stamp says is held. */
    private static int ofStamp(int effect, long stamp) {
        boolean write = (stamp & 0x80) != 0;
        boolean read = (stamp & 0x7F) != 0 && !write;
        switch (effect) {
            case Effect.TO_LOCK: return write ? Effect.HIDE : read ? effect : Effect.TRY_LOCK;
            case Effect.TO_SHARED: return read ? Effect.HIDE : write ? effect : Effect.TRY_LOCK_SHARED;
            default: return write ? Effect.UNLOCK : read ? Effect.UNLOCK_SHARED : Effect.HIDE;
        }
    }

    /** An access through Unsafe is one to the field or element that lies at the offset. */
    private static void enterUnsafe(Object self, long offset, int model) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        if (self != null && self.getClass().isArray()) {
            int index = RavelHandles.elementAt(self, offset);
            enterModel(self, null, index, index < 0 ? model & ~Model.EFFECT | Effect.HIDE : model);
            return;
        }
        int field = self == null ? -1 : RavelHandles.fieldAt(self, offset);
        if (field < 0) {
            boolean order = self != null && U.getInt(t + CALL) == RavelFrameworks.CALL_OF_FRAMEWORK;
            enterModel(order ? self : null, null, -1, order ? model | Model.THROUGH_HANDLE : Effect.HIDE);
        } else {
            model = RavelHandles.direct(model, field) | Model.THROUGH_HANDLE;
            // A static field lies in its class.
            enterModel(self, self instanceof Class ? self : null, -1, model);
        }
    }

    private static long key(Object key) {
        if (key == null) return 0;
        Class<?> type = key.getClass();
        if (type == String.class || type == Integer.class || type == Long.class) return key.hashCode() & 0xFFFFFFFFL;
        return RavelObjects.identity(key) & 0xFFFFFFFFL;
    }

    public static void out(int model) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) out(t, model, true, null, 0);
    }

    public static void out(int result, int model) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) out(t, model, result != 0, null, result);
    }

    public static void out(long result, int model) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) out(t, model, result > 0, null, result);
    }

    public static void out(Object result, int model) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) out(t, model, result != null, result, 0);
    }

    public static void outThrown(Throwable thrown, int model) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        long m = leaveModel(t);
        if (m == 0) return;
        int site = U.getInt(m + ModelFrame.SITE);
        long object = U.getLong(m + ModelFrame.OBJECT);
        switch (U.getInt(m + ModelFrame.MODEL) & Model.EFFECT) {
            case Effect.AWAIT: RavelPoints.step(t); RavelRecords.sync(t, Kind.RESUME_UNNOTIFIED, site, object); break;
            case Effect.MONITOR: RavelPoints.step(t); RavelRecords.sync(t, Kind.RELEASE, site, object); break;
            case Effect.RUN: ran(t, site); break;
            case Effect.RECEIVE:
                if (thrown instanceof java.util.concurrent.ExecutionException
                        || thrown instanceof java.util.concurrent.CompletionException) {
                    RavelRecords.sync(t, Kind.RECEIVE, site, object);
                }
                break;
            default: break;
        }
    }

    /** The end of a task: a thread that waits until the pool has nothing left to do has seen what the task did. */
    private static void ran(long t, int site) {
        Thread thread = Thread.currentThread();
        if (thread instanceof java.util.concurrent.ForkJoinWorkerThread) {
            RavelRecords.sync(t, Kind.SEND, site, RavelObjects.identity(((java.util.concurrent.ForkJoinWorkerThread) thread).getPool()));
        }
    }

    /** These futures (or tasks, or several of them) were completed before this point. */
    public static void heard(Object one, Object other) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        hear(t, one);
        hear(t, other);
    }

    private static void hear(long t, Object future) {
        if (future == null) return;
        if (future instanceof Object[]) {
            Object[] all = (Object[]) future;
            for (int i = 0; i < all.length; i++) hear(t, all[i]);
        } else if (future instanceof java.util.List) {
            java.util.List<?> all = (java.util.List<?>) future;
            for (int i = 0; i < all.size(); i++) hear(t, all.get(i));
        } else {
            RavelRecords.sync(t, Kind.RECEIVE, U.getInt(t + CALL), RavelObjects.identity(future));
        }
    }

    /** A task is about to be done. */
    public static void told(Object task) {
        long t = Thread.currentThread().ravel$t;
        if (t != 0) RavelRecords.sync(t, Kind.SEND, U.getInt(t + CALL), RavelObjects.identity(task));
    }

    /** A part of a tree of tasks is done: a thread that completes the next one, or waits for the root, has seen it. */
    public static void completing(Object task) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0) return;
        long root = RavelObjects.identity(((java.util.concurrent.CountedCompleter<?>) task).getRoot());
        int site = U.getInt(t + CALL);
        RavelRecords.sync(t, Kind.SEND, site, root);
        RavelRecords.sync(t, Kind.RECEIVE, site, root);
    }

    /** The round of a barrier that the thread takes part in, told under the barrier's lock: what it meets there is this and not the barrier. */
    public static void round(Object round) {
        long t = Thread.currentThread().ravel$t;
        if (t == 0 || U.getInt(t + NEST) != 0) return;
        long m = U.getLong(t + MODEL);
        if (m == U.getLong(t + MODEL_BASE)) return;
        m -= ModelFrame.SIZE;
        if ((U.getInt(m + ModelFrame.MODEL) & Model.EFFECT) != Effect.ROUNDS) return;
        long object = RavelObjects.identity(round);
        U.putLong(m + ModelFrame.OBJECT, object);
        int site = U.getInt(m + ModelFrame.SITE);
        RavelRecords.sync(t, Kind.SEND, site, object);
        // The last to come may run an action for all.
        RavelRecords.sync(t, Kind.RECEIVE, site, object);
    }

    /** Pops the model stack; 0 if the method was not recorded. */
    private static long leaveModel(long t) {
        int nest = U.getInt(t + NEST);
        if (nest > 0) {
            U.putInt(t + NEST, nest - 1);
            return 0;
        }
        long m = U.getLong(t + MODEL);
        if (m == U.getLong(t + MODEL_BASE)) return 0;
        m -= ModelFrame.SIZE;
        U.putLong(t + MODEL, m);
        U.putInt(t + NEST, U.getInt(m + ModelFrame.NEST));
        U.putLong(t + OPAQUE, U.getLong(m + ModelFrame.OPAQUE));
        return m;
    }

    @DontInline
    private static void out(long t, int model, boolean yes, Object result, long value) {
        long m = leaveModel(t);
        if (m == 0) return;
        model = U.getInt(m + ModelFrame.MODEL);
        int site = U.getInt(m + ModelFrame.SITE);
        long object = U.getLong(m + ModelFrame.OBJECT);
        long extra = U.getLong(m + ModelFrame.EXTRA);
        if ((U.getInt(m + ModelFrame.ALONE) & 2) != 0) RavelRecords.sync(t, Kind.RECEIVE, 0, object);
        long state = (long) (model >>> Model.FIELD & Model.FIELDS) << Shift.STATE_FIELD | object;
        boolean alone = (U.getInt(m + ModelFrame.ALONE) & 1) != 0;
        if (alone && !ordersNew(t, model & Model.EFFECT, yes, state, extra)) state = 0;
        switch (model & Model.EFFECT) {
            case Effect.LOCK: RavelRecords.sync(t, Kind.ACQUIRE, site, object); changed(t, site, model, object); break;
            case Effect.JOIN:
                if (!yes || !RavelThreads.hasEnded((int) extra)) break;
                // A thread that waits only shortly goes on without that end in another run.
                RavelRecords.sync(t, (extra & LIMITED) != 0 ? Kind.JOIN_LIMITED : Kind.JOIN, site, (int) extra - 1);
                break;
            case Effect.MONITOR: RavelPoints.step(t); RavelRecords.sync(t, Kind.RELEASE, site, object); break;
            case Effect.TRY_LOCK: if (yes) RavelRecords.sync(t, Kind.ACQUIRE, site, object); tried(t, site, model, object, yes); break;
            case Effect.TO_LOCK:
                if (yes) {
                    RavelRecords.sync(t, Kind.ACQUIRE, site, object);
                    RavelRecords.sync(t, Kind.RELEASE_SHARED, site, object);
                }
                break;
            case Effect.LOCK_SHARED: RavelRecords.sync(t, Kind.ACQUIRE_SHARED, site, object); changed(t, site, model, object); break;
            case Effect.TRY_LOCK_SHARED: if (yes) RavelRecords.sync(t, Kind.ACQUIRE_SHARED, site, object); tried(t, site, model, object, yes); break;
            case Effect.AWAIT: RavelPoints.step(t); RavelRecords.sync(t, yes ? Kind.RESUME : Kind.RESUME_UNNOTIFIED, site, object); break;
            case Effect.RECEIVE: case Effect.BARRIER: case Effect.ROUNDS: case Effect.EXCHANGE: RavelRecords.sync(t, Kind.RECEIVE, site, object); break;
            case Effect.TAKE_PERMITS: case Effect.TRY_PERMITS:
                boolean taken = (model & Model.EFFECT) == Effect.TAKE_PERMITS || yes;
                if (taken && RavelPermits.of(object, null).take(U.getInt(t + THREAD), extra)) RavelRecords.sync(t, Kind.RECEIVE, site, object);
                tried(t, site, model, object, taken);
                break;
            case Effect.DRAIN_PERMITS:
                RavelPermits.of(object, null).drain();
                RavelRecords.sync(t, Kind.RECEIVE, site, object);
                changed(t, site, model, object);
                break;
            case Effect.INVOKE: if (extra != 0) RavelRecords.sync(t, Kind.RECEIVE, site, extra); break;
            case Effect.RECEIVE_IF: if (yes) RavelRecords.sync(t, Kind.RECEIVE, site, object); break;
            case Effect.RECEIVE_RESULT: if (result != null) RavelRecords.sync(t, Kind.RECEIVE, site, RavelObjects.identity(result)); break;
            case Effect.RUN: ran(t, site); break;
            case Effect.GET: case Effect.STATE_READ: state(t, Kind.READ_STATE, site, state, value); break;
            case Effect.SET: state(t, Kind.WRITE_STATE, site, state, 0, extra); break;
            case Effect.STATE_UPDATE: state(t, Kind.UPDATE_STATE, site, state, 0, extra); break;
            case Effect.UPDATE: state(t, Kind.UPDATE_STATE, site, state, value); break;
            case Effect.COMPARE_AND_SET: state(t, yes ? Kind.UPDATE_STATE : Kind.READ_STATE, site, state, value); break;
            case Effect.MAP_GET: state(t, Kind.READ_ENTRY, site, state, extra); break;
            case Effect.MAP_PUT: entry(t, site, state, extra, true, !yes); break;
            case Effect.MAP_PUT_IF_ABSENT: entry(t, site, state, extra, !yes, !yes); break;
            case Effect.MAP_REMOVE: entry(t, site, state, extra, yes, yes); break;
            case Effect.MAP_REPLACE_IF: entry(t, site, state, extra, yes, false); break;
            case Effect.MAP_UPDATE: entry(t, site, state, extra, true, false); break;
            case Effect.MAP_COMPUTE: entry(t, site, state, extra, true, true); break;
            case Effect.QUEUE_PUT: if (yes) state(t, Kind.UPDATE_STATE, site, state, 0); break;
            case Effect.QUEUE_TAKE:
                if (result != null) RavelRecords.sync(t, Kind.RECEIVE, site, RavelObjects.identity(result));
                state(t, yes ? Kind.UPDATE_STATE : Kind.READ_STATE, site, state, 0);
                break;
            case Effect.QUEUE_LOOK:
                if (result != null) RavelRecords.sync(t, Kind.RECEIVE, site, RavelObjects.identity(result));
                state(t, Kind.READ_STATE, site, state, 0);
                break;
            default: break;
        }
        if (alone && state != 0) RavelRepeats.ordered(t);
    }

    /** Whether a method takes a lock or permits, or gives them up. */
    private static boolean changesLock(int effect) {
        switch (effect) {
            case Effect.LOCK: case Effect.TRY_LOCK: case Effect.UNLOCK: case Effect.LOCK_SHARED: case Effect.TRY_LOCK_SHARED: case Effect.UNLOCK_SHARED:
            case Effect.TAKE_PERMITS: case Effect.TRY_PERMITS: case Effect.GIVE_PERMITS: case Effect.DRAIN_PERMITS: return true;
            default: return false;
        }
    }

    /** What the program may ask of a lock has changed. Programs that never ask have no such records. */
    private static void changed(long t, int site, int model, long object) {
        tried(t, site, model, object, true);
    }

    private static void tried(long t, int site, int model, long object, boolean yes) {
        long field = model >>> Model.FIELD & Model.FIELDS;
        if (field == 0 || U.getLong(LOCKS_ASKED) == 0) return;
        long state = field << Shift.STATE_FIELD | object;
        if (yes) state(t, Kind.WRITE_STATE, site, state, 0);
        else state(t, Kind.READ_STATE, site, state, 0);
    }

    /** Whether a call of the owner must be recorded, since it happens before calls of threads that touch the object later. */
    private static boolean ordersNew(long t, int effect, boolean yes, long state, long extra) {
        switch (effect) {
            case Effect.SET: case Effect.STATE_UPDATE: return RavelRepeats.ordersNew(t, state);
            case Effect.UPDATE: case Effect.MAP_PUT: case Effect.MAP_UPDATE: case Effect.MAP_COMPUTE: break;
            case Effect.COMPARE_AND_SET: case Effect.QUEUE_PUT: case Effect.QUEUE_TAKE: case Effect.MAP_REMOVE: case Effect.MAP_REPLACE_IF:
                if (!yes) return false;
                break;
            case Effect.MAP_PUT_IF_ABSENT:
                if (yes) return false;
                break;
            default: return false;
        }
        return RavelRepeats.ordersNew(t, state ^ extra * MIX);
    }

    /** An access to one entry of a map; {@code size} if the number of entries changed too (state field + 1). */
    private static void entry(long t, int site, long state, long key, boolean update, boolean size) {
        if (state == 0) return;
        state(t, update ? Kind.UPDATE_ENTRY : Kind.READ_ENTRY, site, state, key);
        if (size) state(t, Kind.UPDATE_STATE, site, state + (1L << Shift.STATE_FIELD), 0);
    }

    private static void state(long t, int kind, int site, long state, long value) {
        if (state == 0 || RavelMethods.isOutside(t, U.getLong(t + TOP))) return;
        int p = U.getInt(t + POSITION);
        if (kind == Kind.READ_STATE || kind == Kind.READ_ENTRY) {
            RavelFences.loads();
            U.putInt(t + SEGMENT, U.getInt(t + SEGMENT) + 1);
            RavelRecords.record(t, kind, site, p, state, value);
        } else {
            RavelRecords.stamped(t, kind, site, p, state, value, U.getAndAddLong(null, SEQUENCE, 1));
        }
    }

    private static void state(long t, int kind, int site, long state, long value, long stamp) {
        if (state == 0 || RavelMethods.isOutside(t, U.getLong(t + TOP))) return;
        RavelRecords.stamped(t, kind, site, U.getInt(t + POSITION), state, value, stamp);
    }

    /**
     * Whether a modelled method may wait for another thread as a matter of course. Others keep the turn until they are
     * done; a lock hands over by itself when it is taken.
     */
    private static boolean mayBlock(int effect) {
        switch (effect) {
            case Effect.RECEIVE: case Effect.RECEIVE_IF: case Effect.BARRIER: case Effect.ROUNDS: case Effect.EXCHANGE:
            case Effect.JOIN: case Effect.INVOKE: case Effect.TAKE_PERMITS: case Effect.TRY_PERMITS: case Effect.DRAIN_PERMITS: return true;
            default: return false;
        }
    }
}
