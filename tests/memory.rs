//! Answers do not depend on the memory budget.

use crate::common;
use crate::common::asking;

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use asking::assert_equal_answers;
use common::build::LogBuilder;
use common::{cases, fixture, session_of};
use eventlog::source::drive;
use eventlog::{Backing, LogError};
use flate2::Compression;
use flate2::write::GzEncoder;
use native::TemporaryFile;
use native::read_session_on;
use session::{MemoryBudget, Session};

/// 64 KiB in total, an eighth of which is for data that can be spilled.
const LITTLE: MemoryBudget = MemoryBudget { bytes: 64 << 10 };

/// Larger logs are skipped, as every question is asked four times for each log.
const AFFORDABLE: usize = 1_000_000;

fn with(bytes: &[u8], backing: Option<Arc<dyn Backing>>) -> Result<Session, LogError> {
    let mut session = Session::with_memory_budget(bytes.len() as u64, LITTLE, backing);
    drive(&mut &*bytes, &mut session)?;
    Ok(session)
}

/// Opens a log that spills to a temporary file.
fn with_little(bytes: &[u8]) -> Result<Session, LogError> {
    with(bytes, Some(Arc::new(TemporaryFile::default())))
}

fn agree(whole: &Session, other: &Session, bytes: &[u8], how: &str) {
    for seed in 0..2_u32 {
        let bytes_of = |i: u32| (i * i / 7 + i * (31 + seed)) as u8;
        let choices: Vec<u8> = (0..4000_u32).map(bytes_of).collect();
        assert_equal_answers(whole, other, bytes, &choices, how);
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Builds a log of 120,000 events, more than any fixture has.
fn large() -> Vec<u8> {
    let mut log = LogBuilder::new();
    log.block(Some(0), (0, 400_000_000), |log| log.runs(1000, 60_000))
        .end();
    log.bytes
}

#[test]
fn a_log_says_the_same_however_little_memory_it_may_take() {
    for case in cases() {
        let bytes = case.bytes();
        if bytes.len() > AFFORDABLE {
            continue;
        }
        let (Ok(whole), Ok(little)) = (session_of(&bytes), with_little(&bytes)) else {
            continue;
        };
        agree(&whole, &little, &bytes, &case.name);
    }
}

#[test]
fn what_is_beyond_the_budget_is_put_away() {
    let bytes = large();
    let whole = session_of(&bytes).expect("a log");
    for threads in [1, 4] {
        let threads = NonZeroUsize::new(threads).expect("some");
        let file = Arc::new(TemporaryFile::default());
        let little = Session::with_memory_budget(bytes.len() as u64, LITTLE, Some(file));
        let little = read_session_on(threads, little, &*bytes).expect("a log");
        let used = little.memory_use();
        assert!(
            used.resident_bytes <= LITTLE.spill_store_bytes(),
            "{used:?}"
        );
        assert!(used.spilled_bytes > 50_000, "{used:?}");
        assert_eq!(little.memory_diagnostics().count(), 0);
        agree(&whole, &little, &bytes, "a large log");
    }
}

#[test]
fn without_another_place_all_stays_in_memory_and_that_is_said() {
    let bytes = large();
    let whole = session_of(&bytes).expect("a log");
    let little = with(&bytes, None).expect("a log");
    let used = little.memory_use();
    assert!(used.resident_bytes > LITTLE.spill_store_bytes() && used.spilled_bytes == 0);
    assert_eq!(whole.memory_diagnostics().count(), 0);
    assert_eq!(little.memory_diagnostics().count(), 1);
}

#[test]
fn a_compressed_log_is_inflated_to_the_file() {
    let plain = [large(), fixture("ghc-9.6.6/fib-forkio-N2-l").bytes()];
    for plain in plain {
        let packed = gzip(&plain);
        let whole = session_of(&packed).expect("a log");
        let little = with_little(&packed).expect("a log");
        let inflated = little.inflated().expect("it was compressed");
        let (resident_bytes, spilled_bytes) = inflated.resident_and_spilled_bytes();
        assert!(resident_bytes <= LITTLE.inflated_bytes());
        assert_eq!(resident_bytes + spilled_bytes, plain.len() as u64);
        agree(&whole, &little, &packed, "a compressed log");
        let file = Arc::new(TemporaryFile::default());
        let little = Session::with_memory_budget(packed.len() as u64, LITTLE, Some(file));
        let threads = NonZeroUsize::new(4).expect("some");
        let together = read_session_on(threads, little, &*packed).expect("a log");
        agree(&whole, &together, &packed, "by four threads");
    }
}

/// Spill file on a full disk, or one that is lost later.
#[derive(Debug, Default)]
struct Failing {
    file: TemporaryFile,
    is_full: bool,
    is_lost: AtomicBool,
}

impl Backing for Failing {
    fn append(&self, bytes: &[u8]) -> Option<u64> {
        if self.is_full {
            return None;
        }
        self.file.append(bytes)
    }
    fn read(&self, at: u64, into: &mut [u8]) -> bool {
        !self.is_lost.load(Ordering::Relaxed) && self.file.read(at, into)
    }
}

#[test]
fn a_full_disk_costs_only_memory() {
    let bytes = large();
    let whole = session_of(&bytes).expect("a log");
    for bytes in [gzip(&bytes), bytes] {
        let disk = Failing {
            is_full: true,
            ..Failing::default()
        };
        let little = with(&bytes, Some(Arc::new(disk))).expect("a log");
        assert_eq!(little.memory_diagnostics().count(), 1);
        assert_eq!(little.events(), whole.events());
    }
}

#[test]
fn a_file_that_is_lost_is_said_to_be() {
    let packed = gzip(&large());
    let disk = Arc::new(Failing::default());
    disk.is_lost.store(true, Ordering::Relaxed);
    let error = with(&packed, Some(disk)).expect_err("it cannot be read");
    assert!(
        error.to_string().contains("could not be read back"),
        "{error}"
    );
}
