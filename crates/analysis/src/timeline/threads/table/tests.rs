use std::collections::HashMap;
use std::sync::Mutex;

use proptest::prelude::*;

use super::*;
use crate::automata::thread_state::{Activity, Reason, State};
use crate::timeline::threads::NEVER_NS;
use eventlog::ids::{CapId, Nanos};
use eventlog::{Backing, StopStatus};
use model::class::StopCode;

/// In-memory backing store.
#[derive(Debug, Default)]
struct List(Mutex<Vec<u8>>);

impl Backing for List {
    fn append(&self, bytes: &[u8]) -> Option<u64> {
        let mut all = self.0.lock().ok()?;
        all.extend_from_slice(bytes);
        Some((all.len() - bytes.len()) as u64)
    }
    fn read(&self, at: u64, into: &mut [u8]) -> bool {
        let Ok(all) = self.0.lock() else { return false };
        let bytes = all.get(at as usize..).and_then(|all| all.get(..into.len()));
        bytes.is_some_and(|bytes| {
            into.copy_from_slice(bytes);
            true
        })
    }
}

/// Operations on the table.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// `count` new threads appear, whose IDs are `unpacked` apart.
    Meet {
        count: u32,
        unpacked: u32,
    },
    /// Every `by`-th thread from `from` changes.
    Change {
        from: u32,
        by: u32,
        seed: u64,
    },
    Label {
        from: u32,
        by: u32,
        labels: u32,
    },
    /// All complete groups but this number are packed.
    Pack(usize),
    PutBack(bool),
    Finish,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (1u32..3000, 1u32..4).prop_map(|(count, unpacked)| Step::Meet { count, unpacked }),
        4 => (any::<u32>(), 1u32..700, any::<u64>())
            .prop_map(|(from, by, seed)| Step::Change { from, by, seed }),
        2 => (any::<u32>(), 1u32..700, 1u32..9)
            .prop_map(|(from, by, labels)| Step::Label { from, by, labels }),
        3 => (0usize..3).prop_map(Step::Pack),
        2 => any::<bool>().prop_map(Step::PutBack),
        1 => Just(Step::Finish),
    ];
    prop::collection::vec(step, 1..24)
}

fn change(thread: &mut Thread, seed: u64) {
    let number = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(thread.id.0);
    let activities = [
        Activity::Running(None),
        Activity::Running(Some(CapId(number as u16))),
        Activity::Blocked(Reason::Created),
        Activity::Blocked(Reason::Stopped(StopStatus::BlockedOnBlackHole(Some(
            ThreadId(number as u32),
        )))),
        Activity::Blocked(Reason::Stopped(StopStatus::BlockedOnBlackHole(None))),
        Activity::Blocked(Reason::Stopped(StopStatus::Other(number as u16))),
        Activity::Blocked(Reason::Stopped(StopStatus::BlockedOnMVar)),
    ];
    let at = number % 1_000_000;
    thread.state = match activities.get(number as usize % 9) {
        Some(&activity) => State::Active(Nanos(at), activity),
        None if number % 9 == 7 => State::Unseen,
        None => State::Final,
    };
    thread.woken_ns = [NEVER_NS, at, 0, u64::MAX - 1][seed as usize % 4];
    thread.created = number.is_multiple_of(3);
    thread.finished = number.is_multiple_of(5);
    thread.last_stop = StopCode(number as u8);
    thread.last_cap = [None, Some(CapId(number as u16))][seed as usize / 4 % 2];
    thread.began_ns = [at, NEVER_NS, number][seed as usize / 8 % 3];
    thread.last_run_end_ns = [at + 77, 0, number][seed as usize / 24 % 3];
    thread.run_ns = number % 5_000;
    thread.runs = number as u32 % 300;
}

/// Reference implementation with a list and a hash map.
#[derive(Default)]
struct Model {
    all: Vec<(Thread, Option<String>)>,
    by_id: HashMap<ThreadId, u32>,
}

impl Model {
    fn places(&self, from: u32, by: u32) -> impl Iterator<Item = usize> + use<> {
        let len = self.all.len();
        (from as usize % len.max(1)..len).step_by(by as usize)
    }

    fn step(&mut self, table: &mut Threads, step: Step, spill_store: &SpillStore) {
        match step {
            Step::Meet { count, unpacked } => {
                let first = 1 + self.all.len() as u32;
                for i in 0..count {
                    let id = ThreadId(first + (i ^ 3) * unpacked);
                    let next = self.all.len() as u32;
                    let index = *self.by_id.entry(id).or_insert_with(|| {
                        self.all.push((Thread::new(id), None));
                        next
                    });
                    assert_eq!(table.index(id), index);
                }
            }
            Step::Change { from, by, seed } => {
                for place in self.places(from, by) {
                    change(&mut self.all[place].0, seed);
                    change(table.at_mut(place as u32).expect("a thread"), seed);
                }
            }
            Step::Label { from, by, labels } => {
                for place in self.places(from, by) {
                    let label = format!("label {}", place as u32 % labels);
                    let text = table.text(&label);
                    table.set_label(place as u32, text);
                    self.all[place].1 = Some(label);
                }
            }
            Step::Pack(unpacked_groups) => table.pack_all_but(unpacked_groups, spill_store),
            Step::PutBack(all) => table.repack(all, spill_store),
            Step::Finish => table.finish(spill_store),
        }
    }

    fn compare(&self, table: &Threads, is_finished: bool) {
        assert_eq!(table.len(), self.all.len());
        let mut first = 0;
        let mut all = table.iter();
        for (index, (thread, label)) in (0..).zip(&self.all) {
            let mut found = all.next().expect("a thread");
            assert_eq!(table.find(thread.id), Some(index));
            assert_eq!(table.label(&found.1), label.as_deref());
            if is_finished {
                assert_eq!(found.1.first_run, first);
                first += thread.runs;
            }
            if index % 17 == 0 {
                assert_eq!(table.get(index), Some(found.1));
            }
            (found.1.first_run, found.1.label) = (0, TextId::NONE);
            assert_eq!(found, (index, *thread));
        }
        assert_eq!(all.next(), None);
        let goes_on = |(_, thread): &(u32, Thread)| !thread.finished;
        let mut unfinished: Vec<_> = table.unfinished().filter(goes_on).collect();
        unfinished.sort_unstable_by_key(|&(index, _)| index);
        assert!(table.iter().filter(goes_on).eq(unfinished));
        assert_eq!(table.get(self.all.len() as u32), None);
        assert_eq!(table.get(u32::MAX), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn is_a_list(steps in steps(), budget in 0u64..100_000) {
        let spill_store = SpillStore::new(budget, Some(Box::<List>::default()));
        let (mut table, mut model) = (Threads::default(), Model::default());
        for step in steps {
            model.step(&mut table, step, &spill_store);
        }
        // The table is not read before it is finished, so stale indexes of runs are cleared.
        table.firsts.clear();
        model.compare(&table, false);
        model.step(&mut table, Step::Finish, &spill_store);
        model.compare(&table, true);
    }
}

/// A thread of a sound log that is created, runs a few times and finishes.
fn finished(thread: &mut Thread, i: u32) {
    let at = u64::from(i) * 20_000 + u64::from(i.wrapping_mul(2_654_435_761) >> 18);
    let long = u64::from(i.wrapping_mul(0x9e37_79b9) >> 12);
    thread.state = State::Final;
    thread.created = true;
    thread.finished = true;
    thread.last_stop = StopCode::FINISHED;
    thread.last_cap = Some(CapId(i as u16 % 4));
    thread.began_ns = at;
    thread.last_run_end_ns = at + long;
    thread.run_ns = long / 2;
    thread.runs = 1 + i % 5;
}

#[test]
fn finished_threads_take_little_and_others_stand_apart() {
    let spill_store = SpillStore::default();
    let mut table = Threads::default();
    let count = 200_000;
    for i in 0..count {
        let index = table.index(ThreadId(1 + (i ^ 1)));
        let label = table.text(["listener", "worker"][i as usize % 2]);
        table.set_label(index, label);
        if let Some(thread) = table.at_mut(index) {
            finished(thread, i);
        }
        if i % 500 == 0 {
            table.at_mut(i / 2).expect("a thread").run_ns += 1;
        }
        if i % 5000 == 0 {
            table.pack_idle(&spill_store);
        }
    }
    table.finish(&spill_store);
    assert!(table.unpacked.is_empty() && table.tail.len() < 2 * Threads::UNPACKED_GROUPS * GROUP);
    let packed = table.packed() as u64;
    let bytes = spill_store.used_bytes() / packed;
    assert!(bytes <= 15, "{bytes} bytes a thread");
}
