//! Adversarial logs: well-formed, but with the ids, counts and times that cost a reader most.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its part of this module"
)]

use std::fs;
use std::path::Path;

use eventlog::Record;
use eventlog::source::{drive, read_log};
use export::format;
use export::formats::FORMATS;
use export::log::{Log, RecordCallback};
use session::Session;
use session::cells::Formulas;
use session::queries::DigestQuery;
use views::fingerprint::fingerprint;

use super::asking::{Choices, answers};
use super::build::{EventTypeDecl, LogBuilder};

/// Event types declared by these logs.
const TYPES: &[EventTypeDecl] = &[
    (0, Some(4), "Create thread"),
    (1, Some(4), "Run thread"),
    (2, Some(10), "Stop thread"),
    (4, Some(6), "Migrate thread"),
    (8, Some(6), "Wakeup thread"),
    (9, Some(0), "Starting GC"),
    (10, Some(0), "Finished GC"),
    (17, Some(2), "Startup"),
    (18, Some(14), "Block marker"),
    (19, None, "User message"),
    (25, Some(6), "Create capability set"),
    (27, Some(6), "Add capability to capability set"),
    (34, Some(56), "Spark counters"),
    (44, None, "Thread label"),
    (45, Some(2), "Create capability"),
    (46, Some(2), "Delete capability"),
    (49, Some(12), "Total heap memory ever allocated"),
    (52, Some(38), "Heap static parameters"),
    (53, Some(50), "GC statistics"),
    (55, Some(18), "Task create"),
    (58, None, "User marker"),
    (59, Some(0), "Empty event for #9003"),
    (160, None, "Start of heap profile"),
    (162, Some(8), "Start of heap profile sample"),
    (164, None, "Heap profile string sample"),
    (165, Some(8), "End of heap profile sample"),
    (169, None, "Info table source position"),
    (181, None, "User binary message"),
    (210, None, "Ticky counter definition"),
    (212, Some(0), "Ticky sample"),
];

/// Source of decisions about the content of a log: consumes bytes in order, then yields zeros.
#[derive(Debug)]
pub struct Decisions<'a>(pub &'a [u8]);

impl Decisions<'_> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    /// Returns a number of at most `bits` bits: small, near the maximum, a power of two, or arbitrary.
    fn number(&mut self, bits: u32) -> u64 {
        let most = u64::MAX >> (64 - bits);
        let (kind, any) = (self.byte(), u64::from(self.byte()));
        let number = match kind % 4 {
            0 => any % 4,
            1 => most - any % 4,
            2 => 1 << (any % u64::from(bits)),
            _ => any.wrapping_mul(0x9E37_79B9_7F4A_7C15),
        };
        number & most
    }

    /// Returns a 64-bit id that collides with others in hash tables that multiply ids by a known constant.
    fn colliding(&mut self) -> u64 {
        const INVERSE: u64 = 0x7814_94a5_5daa_ed0d;
        let number = u64::from(self.byte()) << 8 | u64::from(self.byte());
        number.wrapping_mul(INVERSE)
    }
}

/// Builds the log that `seed` encodes: two to twenty bytes of log for each byte of `seed`.
pub fn adversarial_log(seed: &[u8]) -> Vec<u8> {
    let mut decisions = Decisions(seed);
    let mut log = LogBuilder::with_types(TYPES);
    let mut time = 1;
    while !decisions.0.is_empty() {
        let cap = match decisions.byte() % 8 {
            0 => None,
            1 => Some(decisions.number(10) as u16),
            near => Some(u16::from(near % 3)),
        };
        let begin = time;
        let mut events = LogBuilder::with_types(TYPES);
        events.bytes.clear();
        for _ in 0..=decisions.byte() % 32 {
            time += step(&mut decisions);
            event(&mut events, &mut decisions, time);
        }
        log.block(cap, (begin, time), |log| log.raw(&events.bytes));
    }
    log.end();
    log.bytes
}

/// Time to the next event: mostly nanoseconds to milliseconds, at times one day. The sum stays below the ten years
/// that a log may span.
fn step(decisions: &mut Decisions<'_>) -> u64 {
    match decisions.byte() {
        0..=1 => 86_400_000_000_000,
        byte => 1 << (byte % 24),
    }
}

fn event(log: &mut LogBuilder, decisions: &mut Decisions<'_>, time: u64) {
    let be = |number: u64, bytes: usize| number.to_be_bytes()[8 - bytes..].to_vec();
    let thread = |decisions: &mut Decisions<'_>| match decisions.byte() {
        byte @ 0..200 => be(u64::from(byte % 6), 4),
        _ => be(decisions.number(32), 4),
    };
    let cap = |decisions: &mut Decisions<'_>| be(decisions.number(16), 2);
    let text = |decisions: &mut Decisions<'_>| {
        vec![b'a' + decisions.byte() % 26; usize::from(decisions.byte() % 4)]
    };
    let (id, payload) = match decisions.byte() % 32 {
        0 => (0, thread(decisions)),
        1..=6 => (1, thread(decisions)),
        7..=12 => {
            let status = be(u64::from(decisions.byte() % 20), 2);
            (2, [thread(decisions), status, thread(decisions)].concat())
        }
        13 => (4, [thread(decisions), cap(decisions)].concat()),
        14 => (8, [thread(decisions), cap(decisions)].concat()),
        15 | 16 => (9, vec![]),
        17 | 18 => (10, vec![]),
        19 => (17, cap(decisions)),
        20 => (19, text(decisions)),
        21 => (25, [be(decisions.number(32), 4), be(2, 2)].concat()),
        22 => (27, [be(decisions.number(32), 4), cap(decisions)].concat()),
        23 => {
            let counters: Vec<u8> = (0..7).flat_map(|_| be(decisions.number(64), 8)).collect();
            (34, counters)
        }
        24 => (44, [thread(decisions), text(decisions)].concat()),
        25 => (45 + u16::from(decisions.byte() % 2), cap(decisions)),
        26 => (49, [be(1, 4), be(decisions.number(64), 8)].concat()),
        27 => {
            let sizes: Vec<u8> = (0..4).flat_map(|_| be(decisions.number(64), 8)).collect();
            (52, [be(1, 4), be(decisions.number(16), 2), sizes].concat())
        }
        28 => {
            let sizes: Vec<u8> = (0..5).flat_map(|_| be(decisions.number(64), 8)).collect();
            (
                53,
                [
                    be(1, 4),
                    be(decisions.number(16), 2),
                    be(decisions.number(32), 4),
                    sizes,
                ]
                .concat(),
            )
        }
        29 => (
            55,
            [
                be(decisions.colliding(), 8),
                cap(decisions),
                be(decisions.number(64), 8),
            ]
            .concat(),
        ),
        30 => match decisions.byte() % 4 {
            0 => (162, be(decisions.number(64), 8)),
            1 => (165, be(decisions.number(64), 8)),
            2 => (
                164,
                [
                    vec![0],
                    be(decisions.number(64), 8),
                    text(decisions),
                    vec![0],
                ]
                .concat(),
            ),
            _ => (
                169,
                [be(decisions.colliding(), 8), text(decisions), vec![0; 6]].concat(),
            ),
        },
        _ => match decisions.byte() % 4 {
            0 => (
                210,
                [
                    be(decisions.colliding(), 8),
                    be(decisions.number(16), 2),
                    vec![b'a', 0],
                    text(decisions),
                    vec![0],
                ]
                .concat(),
            ),
            1 => (212, vec![]),
            2 => (
                181,
                [
                    b"OT\x03\x01".to_vec(),
                    be(decisions.colliding(), 8),
                    text(decisions),
                ]
                .concat(),
            ),
            _ => (58, text(decisions)),
        },
    };
    log.event(id, time, &payload);
}

/// Output sizes in bytes of one log: every export format and the JSON answer to every question.
#[derive(Clone, Debug, Default)]
pub struct OutputSizes(pub Vec<(String, u64)>);

impl OutputSizes {
    /// Maximum output bytes for each byte of a log ...
    const EACH_BYTE: u64 = 120;
    /// ... in addition to this constant, which any log may take.
    const ANY_LOG: u64 = 1 << 20;

    /// Exports `log` to all formats if `tables`, else only to the formats of trace viewers.
    pub fn measure(log: &[u8], tables: bool) -> Self {
        let mut session = Session::new(log.len() as u64);
        drive(&mut { log }, &mut session).expect("a log");
        let mut written = Self::default();
        for (name, answer) in answers(&session, log, &mut Choices::new(&[])) {
            written
                .0
                .push((format!("question {name}"), answer.len() as u64));
        }
        let digest = session.ask(&DigestQuery(None));
        let digest = serde_json::to_vec(&digest).expect("plain data");
        written.0.push(("digest".to_owned(), digest.len() as u64));
        let read_again = |take: &mut RecordCallback<'_>| {
            read_log(&mut { log }, &mut |record: &Record<'_>| take(record)).map(|_| ())
        };
        let log = Log {
            name: "a.eventlog",
            inputs: &[],
            fingerprint: fingerprint(log.len() as u64, &[log]),
            session: &session,
            range: None,
            clock_origin_ns: Some(0),
            formulas: Formulas::default(),
            original: None,
            reread: &read_again,
        };
        for format in FORMATS {
            let bytes = match format.output {
                format::OutputKind::File { write, .. } => {
                    let mut bytes = Vec::new();
                    write(&log, &mut bytes).expect("written");
                    bytes.len() as u64
                }
                format::OutputKind::Tables(_) if !tables => continue,
                format::OutputKind::Files(write) | format::OutputKind::Tables(write) => {
                    let folder = tempfile::TempDir::new().expect("a folder");
                    write(&log, &folder.path().join("log")).expect("written");
                    folder_bytes(folder.path())
                }
            };
            written.0.push((format!("format {}", format.name), bytes));
        }
        written
    }

    /// Panics if an output is out of proportion to a log of `log_bytes` bytes.
    pub fn assert_proportional(&self, log_bytes: usize) {
        let most = Self::ANY_LOG + Self::EACH_BYTE * log_bytes as u64;
        for (name, bytes) in &self.0 {
            assert!(
                *bytes <= most,
                "{name}: {bytes} bytes of a log of {log_bytes}"
            );
        }
    }
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).expect("a folder");
    let bytes = entries.map(|entry| {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => folder_bytes(&path),
            false => path.metadata().expect("a file").len(),
        }
    });
    bytes.sum()
}
