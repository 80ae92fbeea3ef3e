//! Simulation of a program with many threads, sparks and collections, whose log `examples/make_big_log.rs` writes.
//! See there.

use std::collections::VecDeque;
use std::io::{self, Write};

mod collection;
mod edges;

use super::container::{self, NO_CAPABILITY, Random, Type};
use super::stream::Stream;

/// Declared event types; `None` marks variable size.
const TYPES: [Type; 46] = [
    (0, Some(4), "Create thread"),
    (1, Some(4), "Run thread"),
    (2, Some(10), "Stop thread"),
    (3, Some(4), "Thread runnable"),
    (4, Some(6), "Migrate thread"),
    (8, Some(6), "Wakeup thread"),
    (9, Some(0), "Starting GC"),
    (10, Some(0), "Finished GC"),
    (11, Some(0), "Request sequential GC"),
    (12, Some(0), "Request parallel GC"),
    (15, Some(4), "Create spark thread"),
    (16, None, "Log message"),
    container::BLOCK_MARKER,
    (19, None, "User message"),
    (20, Some(0), "GC idle"),
    (21, Some(0), "GC working"),
    (22, Some(0), "GC done"),
    (25, Some(6), "Create capability set"),
    (26, Some(4), "Delete capability set"),
    (27, Some(6), "Add capability to capability set"),
    (28, Some(6), "Remove capability from capability set"),
    (29, None, "RTS name and version"),
    (30, None, "Program arguments"),
    (32, Some(8), "Process ID"),
    (33, Some(8), "Parent process ID"),
    (34, Some(56), "Spark counters"),
    (35, Some(0), "Spark create"),
    (36, Some(0), "Spark dud"),
    (37, Some(0), "Spark overflow"),
    (38, Some(0), "Spark run"),
    (39, Some(2), "Spark steal"),
    (40, Some(0), "Spark fizzle"),
    (41, Some(0), "Spark GC"),
    (43, Some(16), "Wall clock time"),
    (44, None, "Thread label"),
    (45, Some(2), "Create capability"),
    (46, Some(2), "Delete capability"),
    (49, Some(12), "Total heap mem ever allocated"),
    (50, Some(12), "Current heap size"),
    (51, Some(12), "Current heap live data"),
    (52, Some(38), "Heap static parameters"),
    (53, Some(58), "GC statistics"),
    (54, Some(0), "Synchronise stop-the-world GC"),
    (55, Some(18), "Task create"),
    (57, Some(8), "Task delete"),
    (58, None, "User marker"),
];

/// Writes the log of a program, slightly larger than `bytes`, and returns a description of its content. A plain
/// program has no sparks and forks less. Equal arguments yield equal logs.
pub(super) fn write(
    out: impl Write,
    bytes: u64,
    caps: u16,
    is_plain: bool,
    seed: u64,
) -> io::Result<String> {
    let mut program = Program::new(out, caps, seed)?;
    program.is_plain = is_plain;
    program.start(bytes)?;
    while program.bytes < bytes {
        program.step()?;
    }
    program.finish()?;
    Ok(format!(
        "{} events, {} runs of {} threads, {} collections, {:.1} s of a program",
        program.events,
        program.runs,
        program.next_thread - 1,
        program.collections,
        program.latest_ns() as f64 / 1e9
    ))
}

/// Stop codes in the log.
mod stop {
    pub(super) const HEAP_OVERFLOW: u16 = 1;
    pub(super) const YIELDING: u16 = 3;
    pub(super) const FINISHED: u16 = 5;
    pub(super) const FOREIGN_CALL: u16 = 6;
    pub(super) const MVAR: u16 = 7;
    pub(super) const BLACK_HOLE: u16 = 8;
    pub(super) const STM: u16 = 12;
    pub(super) const MVAR_READ: u16 = 20;
}

const MIB: u64 = 1 << 20;
const WORKERS_PER_CAP: usize = 16;
const MAIN_THREAD: u32 = 1;
/// Number of runs of a thread that runs as long as the program.
const ENDLESS: u32 = u32::MAX;
const FIRST_TASK: u64 = 0x7ff7_de12_8380;

/// Runnable thread.
#[derive(Clone, Copy)]
struct Ready {
    thread: u32,
    since_ns: u64,
    /// Remaining runs, or [`ENDLESS`].
    runs: u32,
}

/// Blocked thread, until another one wakes it.
struct Waiting {
    ready: Ready,
    cap: usize,
}

/// Spark counters of the runtime.
#[derive(Default)]
struct Sparks {
    created: u64,
    converted: u64,
    collected: u64,
    fizzled: u64,
    in_pool: u64,
}

struct Cap {
    stream: Stream,
    now_ns: u64,
    queue: VecDeque<Ready>,
    sparks: Sparks,
    allocated_bytes: u64,
}

impl Cap {
    /// Removes the next thread that is runnable by now, or else the first one to become runnable.
    fn next(&mut self) -> Option<Ready> {
        let now_ns = self.now_ns;
        let is_due = |ready: &Ready| ready.since_ns <= now_ns;
        let due = self.queue.iter().take(8).position(is_due);
        let first = due.or_else(|| {
            let waits = self.queue.iter().enumerate();
            waits.min_by_key(|(_, ready)| ready.since_ns).map(|at| at.0)
        });
        self.queue.remove(first?)
    }
}

/// State of the simulated program and its log.
struct Program<W> {
    out: W,
    caps: Vec<Cap>,
    /// Events without a capability.
    global: Stream,
    global_ns: u64,
    waiting: VecDeque<Waiting>,
    random: Random,
    next_thread: u32,
    last_run: u32,
    runs_to_collection: u64,
    collections: u64,
    sessions: u64,
    /// Bytes of events so far.
    bytes: u64,
    events: u64,
    runs: u64,
    /// Whether it creates no sparks and forks less.
    is_plain: bool,
    /// Whether all threads are finishing.
    is_closing: bool,
}

impl<W: Write> Program<W> {
    fn new(mut out: W, caps: u16, seed: u64) -> io::Result<Self> {
        container::header(&mut out, &TYPES)?;
        let cap = |cap| Cap {
            stream: Stream::new(cap),
            now_ns: 400_000 + 1_000 * u64::from(cap),
            queue: VecDeque::new(),
            sparks: Sparks::default(),
            allocated_bytes: 0,
        };
        Ok(Self {
            out,
            caps: (0..caps).map(cap).collect(),
            global: Stream::new(NO_CAPABILITY),
            global_ns: 190_000,
            waiting: VecDeque::new(),
            random: Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1),
            next_thread: MAIN_THREAD,
            last_run: MAIN_THREAD,
            runs_to_collection: 500,
            collections: 0,
            sessions: 0,
            bytes: 0,
            events: 0,
            runs: 0,
            is_plain: false,
            is_closing: false,
        })
    }

    /// Writes an event of a capability, `gap_ns` after the previous one.
    #[inline]
    fn write_event(&mut self, cap: usize, gap_ns: u64, id: u16, payload: &[u8]) -> io::Result<()> {
        self.count(10 + payload.len());
        let cap = &mut self.caps[cap];
        cap.now_ns += gap_ns;
        cap.stream
            .event(&mut self.out, id, cap.now_ns, false, payload)
    }

    /// Writes an event with a text.
    fn write_text_event(&mut self, cap: usize, id: u16, payload: &[u8]) -> io::Result<()> {
        self.count(12 + payload.len());
        let cap = &mut self.caps[cap];
        cap.now_ns += 500;
        cap.stream
            .event(&mut self.out, id, cap.now_ns, true, payload)
    }

    /// Writes an event without a capability, 0.5 µs after the previous one.
    fn global(&mut self, id: u16, payload: &[u8]) -> io::Result<()> {
        let any = TYPES.iter().any(|ty| ty.0 == id && ty.1.is_none());
        self.count(10 + payload.len());
        self.global_ns += 500;
        self.global
            .event(&mut self.out, id, self.global_ns, any, payload)
    }

    fn count(&mut self, bytes: usize) {
        self.events += 1;
        self.bytes += bytes as u64;
    }

    /// Creates a thread on a capability.
    fn create(&mut self, cap: usize, runs: u32) -> io::Result<Ready> {
        let thread = self.next_thread;
        self.next_thread += 1;
        self.write_event(cap, 100, 0, &thread.to_be_bytes())?;
        let since_ns = self.caps[cap].now_ns;
        Ok(Ready {
            thread,
            since_ns,
            runs,
        })
    }

    fn label(&mut self, cap: usize, thread: u32, label: &str) -> io::Result<()> {
        self.write_text_event(cap, 44, &[&thread.to_be_bytes(), label.as_bytes()].concat())
    }

    fn stop(&mut self, cap: usize, thread: u32, why: u16, owner: u32) -> io::Result<()> {
        let mut payload = [0; 10];
        payload[..4].copy_from_slice(&thread.to_be_bytes());
        payload[4..6].copy_from_slice(&why.to_be_bytes());
        payload[6..].copy_from_slice(&owner.to_be_bytes());
        self.write_event(cap, 90, 2, &payload)
    }

    /// Writes an event about a thread and a capability.
    fn send(&mut self, from: usize, id: u16, thread: u32, to: usize) -> io::Result<()> {
        let mut payload = [0; 6];
        payload[..4].copy_from_slice(&thread.to_be_bytes());
        payload[4..].copy_from_slice(&cap_number(to));
        self.write_event(from, 90, id, &payload)
    }

    /// Appends a thread to the queue of a capability, with a migration if it is another one.
    fn enqueue(&mut self, from: usize, to: usize, mut ready: Ready) -> io::Result<()> {
        if from != to {
            self.send(from, 4, ready.thread, to)?;
        }
        ready.since_ns = self.caps[from].now_ns;
        self.caps[to].queue.push_back(ready);
        Ok(())
    }

    /// Wakes the thread that has been blocked longest, if it has stopped by now.
    fn wake(&mut self, cap: usize) -> io::Result<()> {
        let now_ns = self.caps[cap].now_ns;
        let is_over = |waiting: &mut Waiting| waiting.ready.since_ns < now_ns;
        let Some(waiting) = self.waiting.pop_front_if(is_over) else {
            return Ok(());
        };
        self.send(cap, 8, waiting.ready.thread, waiting.cap)?;
        let since_ns = self.caps[cap].now_ns;
        let ready = Ready {
            since_ns,
            ..waiting.ready
        };
        self.caps[waiting.cap].queue.push_back(ready);
        Ok(())
    }

    /// Advances the capability whose clock is behind.
    fn step(&mut self) -> io::Result<()> {
        let clocks = self.caps.iter().enumerate();
        let (cap, _) = clocks.min_by_key(|(_, cap)| cap.now_ns).expect("some");
        if self.runs_to_collection == 0 {
            self.collect(cap)?;
        } else if self.caps[cap].sparks.in_pool > 0 && self.random.below(2) == 0 {
            self.run_sparks(cap)?;
        } else if let Some(ready) = self.caps[cap].next() {
            self.run(cap, ready)?;
        } else {
            // Nothing to do: it sleeps until the others have advanced.
            self.caps[cap].now_ns += 2_000;
        }
        Ok(())
    }

    /// Simulates one run of a thread.
    fn run(&mut self, cap: usize, ready: Ready) -> io::Result<()> {
        let draw = self.random.next();
        let state = &mut self.caps[cap];
        state.now_ns = state.now_ns.max(ready.since_ns);
        self.write_event(cap, 70 + (draw & 63), 1, &ready.thread.to_be_bytes())?;
        self.runs += 1;
        self.runs_to_collection -= 1;
        if !self.is_closing {
            self.work(cap, ready.thread, draw >> 8)?;
        }
        self.end_run(cap, ready, draw >> 32)?;
        self.last_run = ready.thread;
        // Occasionally migrate work to another capability.
        if (draw >> 56) < 45 && self.caps[cap].queue.len() > 2 && self.caps.len() > 1 {
            let other = (cap + 1 + self.random.below(self.caps.len() as u64 - 1) as usize)
                % self.caps.len();
            if let Some(moved) = self.caps[cap].next() {
                self.caps[cap].now_ns = self.caps[cap].now_ns.max(moved.since_ns);
                self.enqueue(cap, other, moved)?;
            }
        }
        Ok(())
    }

    /// Simulates the activity of a thread during a run.
    fn work(&mut self, cap: usize, thread: u32, draw: u64) -> io::Result<()> {
        match draw & 127 {
            0..31 if self.is_plain => {}
            // Create sparks.
            0..16 => {
                for _ in 0..1 + (draw >> 8) % 17 {
                    self.write_event(cap, 60, 35, &[])?;
                    self.caps[cap].sparks.created += 1;
                    self.caps[cap].sparks.in_pool += 1;
                }
            }
            // Fork a thread.
            16..37 => {
                let runs = match draw >> 8 & 0xFFF {
                    0..100 if self.sessions < 2_000 * self.caps.len() as u64 => {
                        1 + self.random.below(2_000) as u32
                    }
                    _ => 1,
                };
                let child = self.create(cap, runs)?;
                if runs > 1 {
                    self.sessions += u64::from(runs);
                    self.label(cap, child.thread, &format!("session {}", child.thread))?;
                }
                self.caps[cap].queue.push_back(child);
            }
            37..90 => self.wake(cap)?,
            // Compute for up to 40 µs.
            90..102 => self.caps[cap].now_ns += (draw >> 8) % 40_000,
            102 if (draw >> 8).is_multiple_of(6) => {
                let text = format!("thread {thread} after {} runs", self.runs);
                self.write_text_event(cap, 19, text.as_bytes())?;
            }
            _ => {}
        }
        self.caps[cap].allocated_bytes += 256 + (draw >> 40) % 4096;
        Ok(())
    }

    /// Ends a run: the thread finishes, stays runnable, or blocks.
    fn end_run(&mut self, cap: usize, mut ready: Ready, draw: u64) -> io::Result<()> {
        if ready.runs != ENDLESS {
            ready.runs -= 1;
            if ready.runs > 0 {
                self.sessions -= 1;
            }
        }
        if ready.runs == 0 || self.is_closing {
            return self.stop(cap, ready.thread, stop::FINISHED, 0);
        }
        let may_wait = self.waiting.len() < WORKERS_PER_CAP * self.caps.len() / 2;
        let (why, owner) = match draw & 4095 {
            _ if self.runs_to_collection == 0 => (stop::HEAP_OVERFLOW, 0),
            0..1_200 if may_wait => (stop::MVAR, 0),
            1_200..1_240 if may_wait => (stop::MVAR_READ, 0),
            1_240..1_300 if may_wait => (stop::STM, 0),
            1_300..1_302 if may_wait => (stop::BLACK_HOLE, self.last_run),
            1_310..1_330 => (stop::FOREIGN_CALL, 0),
            _ => (stop::YIELDING, 0),
        };
        self.stop(cap, ready.thread, why, owner)?;
        ready.since_ns = self.caps[cap].now_ns;
        match why {
            stop::HEAP_OVERFLOW | stop::YIELDING => self.caps[cap].queue.push_back(ready),
            stop::FOREIGN_CALL => {
                ready.since_ns += 2_000 + (draw >> 12) % 100_000;
                self.caps[cap].queue.push_back(ready);
            }
            _ => self.waiting.push_back(Waiting { ready, cap }),
        }
        Ok(())
    }

    /// Runs a spark thread, which finds that most sparks were evaluated in the meantime.
    fn run_sparks(&mut self, cap: usize) -> io::Result<()> {
        let ready = self.create(cap, 1)?;
        self.label(cap, ready.thread, "spark evaluator")?;
        let thread = ready.thread.to_be_bytes();
        self.write_event(cap, 50, 15, &thread)?;
        self.write_event(cap, 100, 1, &thread)?;
        self.runs += 1;
        self.runs_to_collection = (self.runs_to_collection - 1).max(1);
        while self.caps[cap].sparks.in_pool > 0 {
            self.caps[cap].sparks.in_pool -= 1;
            if self.random.below(20_000) == 0 {
                self.write_event(cap, 80, 38, &[])?;
                self.caps[cap].sparks.converted += 1;
                self.caps[cap].now_ns += 3_000;
            } else {
                self.write_event(cap, 50, 40, &[])?;
                self.caps[cap].sparks.fizzled += 1;
            }
        }
        let victim = self.random.below(500 * self.caps.len() as u64) as usize;
        if victim < self.caps.len() && victim != cap && self.caps[victim].sparks.in_pool > 0 {
            self.write_event(cap, 80, 39, &cap_number(victim))?;
            self.caps[victim].sparks.in_pool -= 1;
            self.caps[cap].sparks.converted += 1;
            self.caps[cap].now_ns += 3_000;
        }
        self.stop(cap, ready.thread, stop::FINISHED, 0)
    }

    fn spark_counters(&mut self, cap: usize) -> io::Result<()> {
        let sparks = &self.caps[cap].sparks;
        let counters = [
            sparks.created,
            0,
            0,
            sparks.converted,
            sparks.collected,
            sparks.fizzled,
            sparks.in_pool,
        ];
        self.write_event(cap, 40, 34, &words(&counters))
    }

    fn latest_ns(&self) -> u64 {
        let clocks = self.caps.iter().map(|cap| cap.now_ns);
        clocks.max().unwrap_or(0)
    }
}

fn cap_number(cap: usize) -> [u8; 2] {
    (cap as u16).to_be_bytes()
}

/// Encodes numbers in big-endian order.
fn words(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_be_bytes()).collect()
}

/// Encodes a size of heap 0.
fn in_heap(bytes: u64) -> [u8; 12] {
    let mut payload = [0; 12];
    payload[4..].copy_from_slice(&bytes.to_be_bytes());
    payload
}
