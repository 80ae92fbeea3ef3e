//! State classes of spans; each has one color on the timeline.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use eventlog::StopStatus;
use eventlog::ids::ThreadId;
use eventlog::status::StopCodes;

crate::named_enum! {
    /// State of a capability or thread, as coarsely as it is colored.
    #[derive(Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum Class {
        /// Runs Haskell code (the mutator).
        Running: "running";
        /// Collects garbage.
        Gc: "collecting garbage";
        /// Runnable, but the capabilities run other threads: it was woken, yielded, ran out of heap or stack, or is
        /// new.
        Ready: "ready, behind other threads";
        /// Blocked on an `MVar`, to take, put or read.
        Mvar: "blocked on an MVar";
        /// Blocked on a black hole: a value that another thread is computing.
        BlackHole: "blocked on a black hole";
        /// Blocked in an STM `retry`, until something that the transaction read changes.
        Stm: "blocked in an STM retry";
        /// Blocked in `throwTo`, until another thread receives the exception.
        ThrowTo: "blocked in throwTo";
        /// In a foreign call.
        Foreign: "in a foreign call";
        /// Waits for I/O, or for a reason that is not in the log.
        Io: "waiting for I/O or other";
        /// Was still running when the log ended.
        Open: "still running at the end of the log";
        /// Stopped, until all capabilities have stopped for a collection.
        GcSync: "stopping for a collection";
        /// Stopped in a collection without logged work: before the first logged phase of work (the leader prepares
        /// the collection and the others wait), or during all of it.
        GcStart: "in a collection: no work logged";
        /// Found no work in a collection and waits for the others.
        GcIdle: "in a collection: no work found";
        /// Has finished its part of a collection.
        GcDone: "in a collection: its part is done";
        /// Any other span: a task, a block, a user span, a phase of the concurrent collector.
        Other: "other";
        /// Stopped during a heap census for a profile.
        Census: "heap census";
        /// Has not resumed yet after the end of a collection.
        Returning: "resuming after GC";
        /// An idle capability while a thread is runnable.
        CapIdleWorkAvailable: "idle, work was ready";
        /// A runnable thread during a collection, or while capabilities stop for one.
        RunnableDuringGc: "ready, in a collection";
        /// A runnable thread while some capability is idle.
        ThreadRunnableCapIdle: "ready, while a capability was idle";
        /// Not in the log.
        Unknown: "unknown: not in the log";
        /// Not read yet: only the blocks of this part of the log are known.
        Unread: "not read yet";
        /// Sleeping: in `threadDelay`, or waiting with a timeout.
        Sleeping: "sleeping";
    }
    /// Returns a short name for legends.
    fn name;
}

/// Number of classes.
pub const CLASSES: usize = 23;

/// Nanoseconds by class number.
pub type ClassTimes = [u64; CLASSES];

impl Class {
    /// Returns the class with this number, if there is one.
    pub const fn from_number(number: u8) -> Option<Self> {
        if (number as usize) < CLASSES {
            Some(Self::ALL[number as usize])
        } else {
            None
        }
    }

    /// Returns the class with most time; of equals the one with the greatest number.
    pub fn dominant(times: &ClassTimes) -> Self {
        let most = Self::ALL
            .into_iter()
            .max_by_key(|class| times[*class as usize]);
        most.unwrap_or(Self::Other)
    }

    /// Returns whether the class is part of a collection; stopping for one is not.
    pub const fn is_gc(self) -> bool {
        matches!(
            self,
            Self::Gc | Self::GcStart | Self::GcIdle | Self::GcDone | Self::Census
        )
    }
}

crate::named_enum! {
    /// Reason why a thread cannot run: the stop statuses in groups.
    #[derive(Hash, PartialOrd, Ord, Serialize, Deserialize)]
    #[repr(u8)]
    pub enum WaitReason {
        /// An `MVar`, to take, put or read.
        Mvar: "MVar";
        /// A black hole: a value that another thread is computing.
        BlackHole: "black hole";
        /// An STM `retry`, until something that the transaction read changes.
        Stm: "STM";
        /// `throwTo`, until the other thread receives the exception.
        ThrowTo: "throwTo";
        /// A foreign call. Its return has no event, so this includes the wait for a capability after it.
        ForeignCall: "foreign call";
        /// A delay of the non-threaded runtime, or a wait that the timer manager ended ([`ManagerThread`]).
        Delay: "sleep";
        /// A file or socket: without `-threaded`, on Windows, or if an I/O manager ended the wait
        /// ([`ManagerThread`]).
        Io: "I/O";
        /// A reason that is not in the log. GHC up to 7.0 never logs one.
        Other: "other";
    }
    /// Returns a short name for a column header.
    fn name;
}

/// Number of wait reasons.
pub const WAIT_REASONS: usize = 8;

impl WaitReason {
    /// Returns whether another thread of the program ends such a wait.
    pub const fn is_for_thread(self) -> bool {
        matches!(
            self,
            Self::Mvar | Self::BlackHole | Self::Stm | Self::ThrowTo
        )
    }

    /// Returns whether another thread ends such a wait by a value: one in an `MVar`, or in STM.
    pub const fn is_for_value(self) -> bool {
        matches!(self, Self::Mvar | Self::Stm)
    }

    /// Returns whether time, I/O or the return of a foreign call ends such a wait.
    pub const fn is_asleep(self) -> bool {
        matches!(self, Self::Delay | Self::Io | Self::ForeignCall)
    }

    /// Returns the class of spans with this reason.
    pub const fn class(self) -> Class {
        match self {
            Self::Mvar => Class::Mvar,
            Self::BlackHole => Class::BlackHole,
            Self::Stm => Class::Stm,
            Self::ThrowTo => Class::ThrowTo,
            Self::ForeignCall => Class::Foreign,
            Self::Delay => Class::Sleeping,
            Self::Io | Self::Other => Class::Io,
        }
    }
}

/// A thread of the runtime that wakes others when a time has come or a file is ready.
///
/// With `-threaded`, `threadDelay` and socket reads block on an `MVar` or in an STM `retry`, like a wait for a
/// lock. If one of these threads ended the wait, the real reason is known (`GHC.Event.TimerManager`,
/// `GHC.Event.Thread` and `GHC.Conc.POSIX` in `base`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagerThread {
    /// Ends delays and timeouts.
    Timer,
    /// Reports that files and sockets are ready. Before GHC 7.8 and on Windows one manager serves both these and
    /// delays.
    Io,
}

impl ManagerThread {
    /// Recognizes a manager by its thread label, which `base` sets since GHC 7.8.
    pub fn from_label(label: &str) -> Option<Self> {
        match label {
            "TimerManager" => Some(Self::Timer),
            "IOManager" | "IOManagerThread" => Some(Self::Io),
            _ if label.starts_with("IOManager on cap ") => Some(Self::Io),
            _ => None,
        }
    }

    /// Refines the wait reason of a stop, given that this manager ended the wait.
    pub const fn reason_of_wait(self, by_stop: WaitReason) -> WaitReason {
        match (by_stop, self) {
            (WaitReason::Mvar | WaitReason::Stm, Self::Timer) => WaitReason::Delay,
            (WaitReason::Mvar | WaitReason::Stm, Self::Io) => WaitReason::Io,
            _ => by_stop,
        }
    }

    /// Returns a number, 1 or more.
    pub const fn number(self) -> u8 {
        match self {
            Self::Timer => 1,
            Self::Io => 2,
        }
    }

    /// Returns the manager with this [`number`](Self::number).
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Timer),
            2 => Some(Self::Io),
            _ => None,
        }
    }
}

/// Why a thread stopped, in one byte: the standard stop codes, and two of our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StopCode(pub u8);

impl StopCode {
    /// Created and not run yet.
    pub const CREATED: Self = Self(254);
    /// Still running at the end of the log.
    pub const OPEN: Self = Self(253);
    /// Its stack chunk was full; it gets another one and continues.
    pub const STACK_OVERFLOW: Self = Self(2);
    /// Called `yield`, or its time slice was over.
    pub const YIELDING: Self = Self(3);
    /// The thread finished.
    pub const FINISHED: Self = Self(5);

    /// Returns whether the thread stays runnable after this stop.
    pub const fn stays_ready(self) -> bool {
        self.wait_reason().is_none()
    }

    /// Returns the wait reason after a stop with this code; `None` if the thread stays runnable.
    #[inline]
    pub const fn wait_reason(self) -> Option<WaitReason> {
        // Codes come in any order, so that a table is faster than branches.
        static BY_CODE: [Option<WaitReason>; 256] = {
            let (mut by_code, mut code) = ([None; 256], 0);
            while code < by_code.len() {
                by_code[code] = StopCode(code as u8).decide_wait_reason();
                code += 1;
            }
            by_code
        };
        BY_CODE[self.0 as usize]
    }

    const fn decide_wait_reason(self) -> Option<WaitReason> {
        Some(match self.0 {
            1..=3 | 19 | 254 => return None,
            7 | 20 => WaitReason::Mvar,
            8 => WaitReason::BlackHole,
            12 => WaitReason::Stm,
            18 => WaitReason::ThrowTo,
            6 | 14 | 15 => WaitReason::ForeignCall,
            11 => WaitReason::Delay,
            9 | 10 | 13 | 21 => WaitReason::Io,
            _ => WaitReason::Other,
        })
    }

    /// Describes the wait after a stop with this code. `owner` is the thread that owns a black hole, `woken_by`
    /// the manager that ended the wait.
    pub fn wait_explanation(
        self,
        owner: Option<ThreadId>,
        woken_by: Option<ManagerThread>,
    ) -> Cow<'static, str> {
        let by_stop = self.wait_reason();
        let by_waker = by_stop.zip(woken_by);
        let reason = by_waker.map(|(by_stop, manager)| manager.reason_of_wait(by_stop));
        match reason.filter(|_| reason != by_stop) {
            Some(WaitReason::Delay) => "sleeping".into(),
            Some(_) => "waiting for I/O".into(),
            None => self.explanation(owner),
        }
    }

    /// Returns the stop status; `owner` is the thread that owns a black hole.
    pub fn status(self, owner: Option<ThreadId>) -> StopStatus {
        let owner = owner.map(|thread| thread.0);
        StopStatus::from_code(StopCodes::Standard, u16::from(self.0), owner)
    }

    /// Describes the reason for the stop; `owner` is the thread that owns a black hole.
    pub fn explanation(self, owner: Option<ThreadId>) -> Cow<'static, str> {
        match self {
            Self::CREATED => "created, not run yet".into(),
            Self::OPEN => "still running at the end of the log".into(),
            code => code.status(owner).explanation(),
        }
    }
}
