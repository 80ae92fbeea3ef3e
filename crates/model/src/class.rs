//! The few classes of state that a timeline shows, each with one colour.

use serde::{Deserialize, Serialize};

use eventlog::StopStatus;
use eventlog::ids::ThreadId;
use eventlog::status::StopCodes;

/// What a capability or thread does, as coarsely as it is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Class {
    /// Runs Haskell code (mutator).
    Running = 0,
    /// Collects garbage.
    Gc = 1,
    /// Could run, but the capabilities run other threads: it was woken, yielded,
    /// ran out of heap or stack, or is new.
    Ready = 2,
    /// Waits for an MVar: to take, to put or to read.
    Mvar = 3,
    /// Waits for a value that another thread computes: a black hole.
    BlackHole = 4,
    /// Waits for a change of what an STM transaction read before it retried.
    Stm = 5,
    /// Waits for another thread to receive an exception (`throwTo`).
    ThrowTo = 6,
    /// Is in a foreign call.
    Foreign = 7,
    /// Waits for I/O, or for a reason that the log does not have.
    Io = 8,
    /// Was still running when the log ended.
    Open = 9,
    /// Stands still until all capabilities have stopped for a collection.
    GcSync = 10,
    /// Stands still in a collection of which it has logged no work: before its
    /// first phase of work, in which the leader prepares the collection and the
    /// others wait; or all of it.
    GcStart = 11,
    /// Waits in a collection for the others, who have work.
    GcIdle = 12,
    /// Has done its part of a collection.
    GcDone = 13,
    /// Anything else that is a span: a task, a block, a span of the program,
    /// a phase of the concurrent collector.
    Other = 14,
    /// Stands still while the heap is counted for a profile.
    Census = 15,
    /// Has not come back from a collection that is over.
    Returning = 16,
    /// A capability that stands by while a thread is ready.
    IdleReady = 17,
    /// A thread that could run, while a collection goes on or is being stopped for.
    ReadyGc = 18,
    /// A thread that could run, while some capability stands by.
    ReadyIdle = 19,
    /// The log does not tell.
    Unknown = 20,
    /// The log is not read that far yet: all that is known are its blocks.
    Unread = 21,
    /// Waits for a time: in `threadDelay` or for a timeout.
    Sleeping = 22,
}

/// How many classes there are.
pub const CLASSES: usize = 23;

/// Nanoseconds by class.
pub type ClassTimes = [u64; CLASSES];

impl Class {
    /// All of them, by number.
    pub const ALL: [Self; CLASSES] = [
        Self::Running,
        Self::Gc,
        Self::Ready,
        Self::Mvar,
        Self::BlackHole,
        Self::Stm,
        Self::ThrowTo,
        Self::Foreign,
        Self::Io,
        Self::Open,
        Self::GcSync,
        Self::GcStart,
        Self::GcIdle,
        Self::GcDone,
        Self::Other,
        Self::Census,
        Self::Returning,
        Self::IdleReady,
        Self::ReadyGc,
        Self::ReadyIdle,
        Self::Unknown,
        Self::Unread,
        Self::Sleeping,
    ];

    /// The class of that number.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        if (number as usize) < CLASSES {
            Some(Self::ALL[number as usize])
        } else {
            None
        }
    }

    /// The class that has most of some time.
    #[must_use]
    pub fn of_most(times: &ClassTimes) -> Self {
        let most = Self::ALL
            .into_iter()
            .max_by_key(|class| times[*class as usize]);
        most.unwrap_or(Self::Other)
    }

    /// A short name for legends.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Gc => "collecting garbage",
            Self::Ready => "ready, behind other threads",
            Self::Mvar => "blocked on an MVar",
            Self::BlackHole => "blocked on a black hole",
            Self::Stm => "blocked in an STM retry",
            Self::ThrowTo => "blocked in throwTo",
            Self::Foreign => "in a foreign call",
            Self::Io => "waiting for I/O or other",
            Self::Open => "still running at the end of the log",
            Self::GcSync => "stopping for a collection",
            Self::GcStart => "in a collection: no work logged",
            Self::GcIdle => "in a collection: no work found",
            Self::GcDone => "in a collection: its part is done",
            Self::Other => "other",
            Self::Census => "counting the heap",
            Self::Returning => "resuming after GC",
            Self::IdleReady => "idle, work was ready",
            Self::ReadyGc => "ready, in a collection",
            Self::ReadyIdle => "ready, while a capability was idle",
            Self::Unknown => "unknown: not in the log",
            Self::Unread => "not read yet",
            Self::Sleeping => "sleeping",
        }
    }

    /// Whether it is part of a collection: not the wait for it.
    #[must_use]
    pub const fn is_gc(self) -> bool {
        matches!(
            self,
            Self::Gc | Self::GcStart | Self::GcIdle | Self::GcDone | Self::Census
        )
    }
}

/// For what a thread that cannot run waits: the stop statuses, grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum WaitReason {
    /// An MVar, to take, to put or to read.
    Mvar = 0,
    /// A black hole: a value that another thread computes.
    BlackHole = 1,
    /// A change of what an STM transaction read before it retried.
    Stm = 2,
    /// The other thread, to receive an exception (`throwTo`).
    ThrowTo = 3,
    /// A foreign call's return. The log has no event for it, so that the
    /// wait for a capability after it is part of this.
    ForeignCall = 4,
    /// A time: a delay of the runtime without `-threaded`, or a wait that the timer
    /// manager ended ([`ManagerThread`]).
    Delay = 5,
    /// A file or socket: without `-threaded`, on Windows, or until an I/O manager ended
    /// the wait ([`ManagerThread`]).
    Io = 6,
    /// Something that the log does not say. GHC up to 7.0 never says it.
    Other = 7,
}

/// How many reasons to wait there are.
pub const WAIT_REASONS: usize = 8;

impl WaitReason {
    /// All of them, by number.
    pub const ALL: [Self; WAIT_REASONS] = [
        Self::Mvar,
        Self::BlackHole,
        Self::Stm,
        Self::ThrowTo,
        Self::ForeignCall,
        Self::Delay,
        Self::Io,
        Self::Other,
    ];

    /// Whether another thread of the program ends such a wait.
    #[must_use]
    pub const fn is_for_thread(self) -> bool {
        matches!(
            self,
            Self::Mvar | Self::BlackHole | Self::Stm | Self::ThrowTo
        )
    }

    /// Whether time, a file or a foreign call ends such a wait.
    #[must_use]
    pub const fn is_asleep(self) -> bool {
        matches!(self, Self::Delay | Self::Io | Self::ForeignCall)
    }

    /// The class of such a wait.
    #[must_use]
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

    /// A short name for the head of a column.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mvar => "MVar",
            Self::BlackHole => "black hole",
            Self::Stm => "STM",
            Self::ThrowTo => "throwTo",
            Self::ForeignCall => "foreign call",
            Self::Delay => "sleep",
            Self::Io => "I/O",
            Self::Other => "other",
        }
    }
}

/// A thread of the runtime that wakes others when a time has come or a file is ready.
///
/// With `-threaded`, `threadDelay` and reads of sockets wait for an `MVar` or in an STM retry, like
/// a wait for a lock. These threads end such waits, and so they tell what was waited for
/// (`GHC.Event.TimerManager`, `GHC.Event.Thread` and `GHC.Conc.POSIX` in `base`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagerThread {
    /// Ends delays and timeouts.
    Timer,
    /// Reports that files and sockets are ready. Before GHC 7.8 and on Windows there is
    /// one manager for these and for delays.
    Io,
}

impl ManagerThread {
    /// The manager of that label, which `base` gives it since GHC 7.8.
    #[must_use]
    pub fn from_label(label: &str) -> Option<Self> {
        match label {
            "TimerManager" => Some(Self::Timer),
            "IOManager" | "IOManagerThread" => Some(Self::Io),
            _ if label.starts_with("IOManager on cap ") => Some(Self::Io),
            _ => None,
        }
    }

    /// What a wait was for that this manager ended, by what the stop says.
    #[must_use]
    pub const fn reason_of_wait(self, by_stop: WaitReason) -> WaitReason {
        match (by_stop, self) {
            (WaitReason::Mvar | WaitReason::Stm, Self::Timer) => WaitReason::Delay,
            (WaitReason::Mvar | WaitReason::Stm, Self::Io) => WaitReason::Io,
            _ => by_stop,
        }
    }

    /// Its number, 1 or more.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Timer => 1,
            Self::Io => 2,
        }
    }

    /// The manager of that [`number`](Self::number).
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Timer),
            2 => Some(Self::Io),
            _ => None,
        }
    }
}

/// Why a thread stopped, in one byte: the standard stop codes, and two more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StopCode(pub u8);

impl StopCode {
    /// It was created and has not run yet.
    pub const CREATED: Self = Self(254);
    /// It did not stop: the log ends.
    pub const OPEN: Self = Self(253);
    /// It called `yield`, or its time slice was over.
    pub const YIELDING: Self = Self(3);
    /// It finished.
    pub const FINISHED: Self = Self(5);

    /// Whether a thread that stops with this code can run again at once.
    #[must_use]
    pub const fn stays_ready(self) -> bool {
        self.wait_reason().is_none()
    }

    /// For what a thread waits after a stop with this code; `None` if it can
    /// run again at once.
    #[must_use]
    pub const fn wait_reason(self) -> Option<WaitReason> {
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

    /// For what a thread waits after a stop with this code, in words. `owner` is the thread that
    /// owns a black hole, `woken_by` the manager that ended the wait.
    #[must_use]
    pub fn wait_explanation(
        self,
        owner: Option<ThreadId>,
        woken_by: Option<ManagerThread>,
    ) -> String {
        let by_stop = self.wait_reason();
        let by_waker = by_stop.zip(woken_by);
        let reason = by_waker.map(|(by_stop, manager)| manager.reason_of_wait(by_stop));
        match reason.filter(|_| reason != by_stop) {
            Some(WaitReason::Delay) => "sleeping".to_owned(),
            Some(_) => "waiting for I/O".to_owned(),
            None => self.explanation(owner),
        }
    }

    /// The stop status; `owner` is the thread that owns a black hole.
    #[must_use]
    pub fn status(self, owner: Option<ThreadId>) -> StopStatus {
        let owner = owner.map(|thread| thread.0);
        StopStatus::from_code(StopCodes::Standard, u16::from(self.0), owner)
    }

    /// The reason in words; `owner` is the thread that owns a black hole.
    #[must_use]
    pub fn explanation(self, owner: Option<ThreadId>) -> String {
        match self {
            Self::CREATED => "created, not run yet".to_owned(),
            Self::OPEN => "still running at the end of the log".to_owned(),
            code => code.status(owner).explanation().into_owned(),
        }
    }
}
