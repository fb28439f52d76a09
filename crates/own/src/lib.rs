//! Ownership: who protects each field of a program, what is proven of it, and what need not be recorded for that.
//!
//! `ravel own` writes a focus plan, and `--focus` uses it; without these two, Ravel needs nothing of this crate. It is apart from
//! `ravel-scan` because a suspicion and a proof have different standards: `scan` gives names to objects that are good enough to
//! suspect, this crate tells objects apart by where they are made. The two share names ([`ravel_scan::symbols`]), locking
//! expressions ([`ravel_scan::expr`]) and control flow graphs ([`ravel_scan::cfg`]). Of `ravel-analysis` only [`mod@reduced`] uses
//! anything, the model of transactions. [`own`](fn@own) is the entry point.
//!
//! **Paper.** Agarwal, Sasturkar, Wang, Stoller, *Optimized Run-Time Race Detection and Atomicity Checking Using Partial
//! Discovered Types* (ASE 2005), "Focus". [`discover`] reads owners off recorded runs (section 4), [`check`] proves or refutes
//! owners over the bytecode (sections 3.1, 6.1.1), [`atomicity`] has the atomicity types (3.2) and [`atomic`] their least fixed
//! point over the call graph (5), [`plan`] the file that the recorder and the analyses obey (6), [`mod@reduced`] what an atomic
//! transaction may be reduced to (6.2).
//!
//! **Departures.** The paper's owners are types written on classes and checked by rules for assignments; here the same
//! questions are answered by a points-to analysis of the whole program ([`points`]): an object is *thisThread* if nothing that
//! several threads know leads to it, and no annotation has to agree with another. `unique` is an object that goes from the thread
//! that makes it to one other for good ([`unique`]). Owners of parameters and results ([`values`]) follow from it; owners that the program states itself
//! (`@GuardedBy`, `@Immutable`, `@ThreadSafe`) are compared with what is proven and never believed: a broken one is what users want to
//! hear of. The price is a closed world ([`world`]): a class that is
//! loaded and was not looked at, or is another one, ends what was proven, and the recorder says so. Where the paper inserts
//! checks at calls from untyped to typed methods, here untyped methods are part of what is analysed, and what a typed method
//! requires of its callers is checked at every call, statically ([`locks`]).
//!
//! **What may be left out, and why nothing is lost.** Races are not all that a recording serves: a field that one lock guards
//! everywhere has no race, and may still be read in one critical section and written in the next. So being free of races is not
//! enough for leaving a field out of the *recording*. These are:
//!
//! 1. *An access that meets only objects of the thread itself.* No other thread ever touches these objects, every pattern
//!    of every analysis has accesses of two threads to one location (or one each to two locations of one object or array), and
//!    the order between threads is not made by such accesses. Nothing that is found can need them. With its default filters the
//!    recorder drops them anyway, one by one; leaving them out saves the question.
//! 2. *An access that meets only objects and arrays that never change after their construction*, and a static field that only
//!    its class's initialiser writes; what `main` does before it starts a thread ([`early`]) is part of construction. Every pattern and every race has a write; the writes of such an object come before a second thread
//!    can have it, and the recorder, which records an object from its second thread on, records none of them. It must be the
//!    whole object: the first access of a second thread is what makes the recorder record all fields of the object, so an
//!    access to an unchanging field of an object that also changes must still be seen. With `--keep-unshared` constructors are
//!    recorded, and an object published by a race has a race with its constructor: then this second group is recorded too.
//!
//! 3. *An access that meets only objects which one thread has made for one other* ([`unique`]): the first is done with them when it
//!    starts the second. Whatever the recorder would record of them is of the second alone.
//! 4. *Collections of the JDK* of which every object that the program can have is of these kinds ([`collections`]): they are not
//!    rewritten at all.
//!
//! **For races alone** more can go: with the mode [`Races`](plan::Mode::Races) a recording has nothing that cannot race, which is what
//! the paper's focused race detection leaves out. These are the accesses to fields with an owner, where all fields of the object
//! have one (the rule of the whole object, as above), and to arrays and collections that a lock of their owner guards ([`guarded`]).
//! Where other fields of the object may race, an access that cannot still says who has the object, and nothing else. Locks and all
//! other synchronisation stay, so every race that is left is judged as in a full recording. Nor does such a recording say how units interleave: it
//! has frames only where code outside calls the program (an *inner* method needs no hook to find out), counts no points, and has
//! one access of each place in the code to each location until the thread gives a lock up or orders something after itself. What
//! races with a later one races with that one too: no other thread can have received it in between, and no lock that was
//! held then has been given up. `ravel check` looks for races only in such a recording, and nothing in it can be forced.
//!
//! A method in which, and in all that it calls, nothing else is left to record never reaches the trace; its entry and exit
//! need no hooks. Positions count the points that are left, so a forced run is given the same plan as the recording was; the
//! trace carries it.
//!
//! Everything else that is proven serves the *analyses*: fields with an owner cannot race, so the race analyses pass over them,
//! and executions of methods verified atomic need no test by reduction.
//!
//! **Promise.** Of the accesses that would be recorded, those left out are of these kinds in every execution, if: the JDK's
//! classes do what [`outside`] says of them, the classes are those that were looked at (checked at load), native code of the
//! program does not hand objects from thread to thread behind the analysis, and reflection calls only methods that are named
//! by a string constant or carry an annotation. What cannot be read proves nothing at all.

mod atomic;
mod atomicity;
mod bits;
mod build;
mod calls;
mod check;
mod collections;
#[cfg(test)]
#[path = "../../scan/tests/common/mod.rs"]
mod compiling;
pub mod discover;
mod early;
mod flow;
mod graph;
mod guarded;
mod hush;
mod locks;
mod lowering;
mod objects;
mod outside;
pub mod plan;
mod points;
pub mod reduced;
mod reflection;
mod sharing;
mod unique;
mod values;
mod world;

pub use build::{Ownership, own, read};
pub use world::ClassInput;
