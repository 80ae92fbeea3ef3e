//! Packed columns of threads. A typical thread that was created, ran briefly and finished takes about 15 bytes.

use super::{NEVER_NS, Thread};
use crate::automata::thread_state::{Activity, Reason, State};
use eventlog::StopStatus;
use eventlog::ids::{CapId, Nanos, ThreadId};
use eventlog::status::StopCodes;
use eventlog::texts::TextId;
use model::class::StopCode;
use model::packed_column::{BLOCK, pack, read_block, unpack};
use model::spill_store::{SpillStore, StoredWords};

/// Number of threads that are packed together.
pub(super) const GROUP: usize = 8 * BLOCK;

const COLUMNS: usize = 11;
/// Column of thread IDs.
const ID: usize = 0;
/// Column of run counts.
const RUNS: usize = 4;

/// Packed group of threads: the offset of each column, followed by the columns.
#[derive(Clone, Debug)]
pub(super) struct Packed {
    kept: StoredWords,
    /// Whether all of them have finished.
    pub(super) finished: bool,
}

impl Packed {
    pub(super) fn pack(threads: &[Thread], spill_store: &SpillStore) -> Self {
        let rows: Vec<[u64; COLUMNS]> = threads.iter().map(to_row).collect();
        let mut words = vec![0; COLUMNS];
        let (mut numbers, mut packed) = (Vec::new(), Vec::new());
        for column in 0..COLUMNS {
            numbers.clear();
            numbers.extend(rows.iter().map(|row| row[column]));
            pack(&numbers, &mut packed);
            words[column] = words.len() as u64;
            words.append(&mut packed);
        }
        let has_finished = |thread: &Thread| thread.finished && thread.state == State::Final;
        Self {
            kept: spill_store.store(&words),
            finished: threads.iter().all(has_finished),
        }
    }

    pub(super) fn get(&self, place: usize) -> Thread {
        self.kept.with(|words| {
            of_row(std::array::from_fn(|column| {
                unpack(column_of(words, column), place)
            }))
        })
    }

    /// Returns the ID of a thread, without unpacking its other fields.
    pub(super) fn id(&self, place: usize) -> ThreadId {
        let id: u64 = self.kept.with(|words| unpack(column_of(words, ID), place));
        ThreadId(id as u32)
    }

    /// Appends the threads of the block that begins at `from`, a multiple of the block size.
    pub(super) fn read(&self, from: usize, threads: &mut Vec<Thread>) {
        let mut columns = [[0; BLOCK]; COLUMNS];
        self.kept.with(|words| {
            for (column, numbers) in columns.iter_mut().enumerate() {
                read_block::<u64>(column_of(words, column), from, numbers);
            }
        });
        let row = |place| std::array::from_fn(|column: usize| columns[column][place]);
        threads.extend((0..BLOCK).map(|place| of_row(row(place))));
    }

    /// Reads the run counts of the threads from `from` to the end of its block.
    pub(super) fn runs(&self, from: usize, runs: &mut [u32]) {
        self.kept
            .with(|words| read_block(column_of(words, RUNS), from, runs));
    }
}

fn column_of(words: &[u64], column: usize) -> &[u64] {
    let begin = words.get(column).and_then(|&at| usize::try_from(at).ok());
    begin.and_then(|at| words.get(at..)).unwrap_or_default()
}

/// Converts a thread to numbers that are similar for similar threads: times are stored relative to each other.
fn to_row(thread: &Thread) -> [u64; COLUMNS] {
    let since = match thread.state {
        State::Active(since, _) => since.0.wrapping_sub(thread.last_run_end_ns),
        State::Unseen | State::Final => 0,
    };
    let flags = [thread.created, thread.finished].map(u64::from);
    [
        thread.id.0.into(),
        thread.began_ns.wrapping_add(1),
        thread.last_run_end_ns.wrapping_sub(thread.began_ns),
        thread.run_ns,
        thread.runs.into(),
        thread.label.0.into(),
        thread.last_cap.map_or(0, |cap| u64::from(cap.0) + 1),
        flags[0] | flags[1] << 1 | u64::from(thread.last_stop.0) << 2,
        state_to_word(thread.state),
        since,
        thread.woken_ns.wrapping_add(1),
    ]
}

fn of_row(row: [u64; COLUMNS]) -> Thread {
    let [
        id,
        began,
        lived,
        run_ns,
        runs,
        label,
        last_cap,
        flags,
        state,
        since,
        woken,
    ] = row;
    let began_ns = began.wrapping_sub(1);
    let last_run_end_ns = began_ns.wrapping_add(lived);
    Thread {
        id: ThreadId(id as u32),
        state: state_of_word(state, Nanos(last_run_end_ns.wrapping_add(since))),
        woken_ns: woken.wrapping_sub(1),
        created: flags & 1 == 1,
        finished: flags >> 1 & 1 == 1,
        last_stop: StopCode((flags >> 2) as u8),
        last_cap: last_cap.checked_sub(1).map(|cap| CapId(cap as u16)),
        began_ns,
        last_run_end_ns,
        run_ns,
        runs: runs as u32,
        label: TextId(label as u32),
        first_run: 0,
    }
}

/// Encodes the state of a thread: its kind in three bits, and its parameters above them.
fn state_to_word(state: State) -> u64 {
    let (kind, more): (u64, u64) = match state {
        State::Unseen => (0, 0),
        State::Final => (1, 0),
        State::Active(_, Activity::Running(None)) => (2, 0),
        State::Active(_, Activity::Running(Some(cap))) => (3, cap.0.into()),
        State::Active(_, Activity::Blocked(Reason::Created)) => (4, 0),
        State::Active(_, Activity::Blocked(Reason::Stopped(status))) => match status {
            StopStatus::BlockedOnBlackHole(Some(owner)) => (5, owner.0.into()),
            StopStatus::Other(code) => (6, code.into()),
            StopStatus::StackOverflow(Some(words)) => {
                (7, u64::from(status.code()) | (u64::from(words) + 1) << 8)
            }
            status => (7, status.code().into()),
        },
    };
    kind | more << 3
}

fn state_of_word(word: u64, since: Nanos) -> State {
    let more = word >> 3;
    let stopped = |status| Activity::Blocked(Reason::Stopped(status));
    let activity = match word & 7 {
        0 => return State::Unseen,
        1 => return State::Final,
        2 => Activity::Running(None),
        3 => Activity::Running(Some(CapId(more as u16))),
        4 => Activity::Blocked(Reason::Created),
        5 => stopped(StopStatus::BlockedOnBlackHole(Some(ThreadId(more as u32)))),
        6 => stopped(StopStatus::Other(more as u16)),
        _ => stopped(StopStatus::from_code(
            StopCodes::Standard,
            (more & 0xFF) as u16,
            (more >> 8).checked_sub(1).map(|info| info as u32),
        )),
    };
    State::Active(since, activity)
}

const _: () = assert!(NEVER_NS.wrapping_add(1) == 0, "never is the least number");
