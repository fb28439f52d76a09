//! The hooks that inserted code calls: static methods of the Java helper classes, one class per subject. Hooks
//! of the same name differ in their descriptors.

/// A hook.
#[derive(Clone, Copy, Debug)]
pub struct Hook {
    /// Internal name of the class.
    pub class: &'static str,
    /// Name of the method.
    pub name: &'static str,
}

macro_rules! hooks {
    ($($class:ident { $($constant:ident = $name:literal;)+ })+) => {
        $($(pub const $constant: Hook = Hook { class: concat!("java/lang/", stringify!($class)), name: $name };)+)+

        /// All hooks.
        #[cfg(test)]
        pub const ALL: &[Hook] = &[$($($constant),+),+];
    };
}

hooks! {
    RavelFields {
        GET = "get";
        VOLATILE_GET = "volatileGet";
        PUT = "put";
        VOLATILE_PUT = "volatilePut";
        TOUCH = "touch";
        JGET = "jget";
        JPUT = "jput";
        GET_STATIC = "getStatic";
        PUT_STATIC = "putStatic";
        STAMP = "stamp";
    }
    RavelArrays {
        JAGET = "jaget";
        JAPUT = "japut";
        AGET = "aget";
        APUT = "aput";
        MADE = "made";
        MADE_DEEP = "madeDeep";
    }
    RavelObjects {
        JBORN = "jborn";
        BORN = "born";
        SHOWN = "shown";
    }
    RavelMethods {
        CALL = "call";
        ENTER = "enter";
        ENTER_LIGHTLY = "enterLightly";
        EXIT_LIGHTLY = "exitLightly";
        EXIT_LIGHTLY_THROWN = "exitLightlyThrown";
        ENTER_LOCKED = "enterLocked";
        ENTER_INITIALIZER = "enterInitializer";
        EXIT_INITIALIZER = "exitInitializer";
        EXIT = "exit";
        EXIT_THROWN = "exitThrown";
    }
    RavelMonitors {
        ACQUIRED = "acquired";
        RELEASING = "releasing";
        JACQUIRED = "jacquired";
        JRELEASING = "jreleasing";
        WAITING = "waiting";
        WAITED = "waited";
        WAIT_NANOS = "waitNanos";
        CAUGHT = "caught";
        NOTIFYING = "notifying";
        NOTIFYING_ALL = "notifyingAll";
    }
    RavelThreads {
        STARTING = "starting";
        BEGINNING = "beginning";
        ENDING = "ending";
        UNCAUGHT = "uncaught";
        ALIVE = "alive";
        INTERRUPTED = "interrupted";
    }
    RavelModels {
        IN = "in";
        OUT = "out";
        OUT_THROWN = "outThrown";
        HEARD = "heard";
        TOLD = "told";
        COMPLETING = "completing";
        ROUND = "round";
    }
    RavelForced {
        ALONE = "alone";
        POINT = "point";
        LOCK_POINT = "lockPoint";
        ENTER_FORCED = "enterForced";
        EXIT_FORCED = "exitForced";
        EXIT_FORCED_THROWN = "exitForcedThrown";
        RETURNED = "returned";
        BEFORE_LOCK = "beforeLock";
        BEFORE_MONITOR = "beforeMonitor";
        AFTER_MONITOR = "afterMonitor";
        JPOINT = "jpoint";
    }
    RavelFailures {
        ENDS = "exit";
        HALTS = "halt";
    }
    RavelSearch {
        SEARCH_AWAIT = "await";
        SEARCH_LIMIT = "limit";
        SEARCH_NOTIFY = "notify";
        SEARCH_NOTIFY_ALL = "notifyAll";
        SEARCH_PARK = "park";
        SEARCH_UNPARK = "unpark";
        SEARCH_YIELD = "yield";
        SEARCH_SHUTDOWN_HOOK = "addShutdownHook";
    }
    RavelChance {
        ZERO = "zero";
        CHANCE = "chance";
        LOCAL = "local";
        SPLITTABLE = "splittable";
        SEED = "seed";
        MOVE_SEED = "moveSeed";
        RANDOM = "random";
        NANOS = "nanos";
        MILLIS = "millis";
        ADJUSTMENT = "adjustment";
        SLEEP = "sleep";
        TIMED = "timed";
        TIMED_MILLIS = "timedMillis";
    }
    RavelFrameworks {
        ORDER_RECEIVED = "received";
        ORDER_SENDING = "sending";
        ORDER_RECEIVED_STATIC = "receivedStatic";
        ORDER_SENDING_STATIC = "sendingStatic";
        ORDER_CALLING = "calling";
        STATE_RECEIVED = "stateReceived";
        STATE_SENDING = "stateSending";
    }
    RavelReflection {
        VISIBLE = "visible";
    }
    RavelDirector {
        BEFORE_STEP = "before";
        AFTER_STEP = "after";
        AFTER_VALUE = "afterValue";
        WRITES = "writes";
        ENTER_UNIT = "enter";
        LEAVE_UNIT = "leave";
        LEAVE_WITH_VALUE = "leaveValue";
        LEAVE_WITH_OBJECT = "leaveObject";
        LEAVE_THROWN = "leaveThrown";
        DIED = "uncaught";
    }
}
