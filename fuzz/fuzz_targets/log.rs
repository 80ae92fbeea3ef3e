//! Reads a whole log in pieces, compressed or not; reads every event again, chunk by chunk; runs all analyses.
//! Events, markers and lost ranges must account for all bytes.
#![no_main]

use std::io;
use std::ops::Range;

use analysis::timeline::store::Store;
use analysis::timeline::thread_table::ThreadTableQuery;
use analysis::yielder::{NoYield, block_on};
use eventlog::display::DisplayOrder;
use eventlog::ids::{Duration, Nanos};
use eventlog::rows::RowSource;
use eventlog::sentence::sentence;
use eventlog::source::{Source, drive};
use eventlog::{Inflated, LogReader, Names, Need, Record, Sink, Step};
use libfuzzer_sys::fuzz_target;
use model::time::Interval;
use session::Session;
use session::events::chunk::ChunkReader;

/// Checks that the times of threads in both halves add up to the whole.
fn ask_for_threads(store: &Store, end: Nanos) {
    let sums = |range| {
        let query = ThreadTableQuery {
            range,
            rows: 0..10,
            ..ThreadTableQuery::default()
        };
        block_on(store.thread_table(&query, &NoYield))
            .unwrap_or_default()
            .all
    };
    let middle = Nanos(end.0 / 2);
    let halves = [(Nanos(0), middle), (middle, end)].map(|(from, to)| Interval::new(from, to));
    let [first, second] = halves.map(|half| sums(Some(half)).times.life_ns());
    let whole = sums(None).times.life_ns();
    assert!(whole == u64::MAX || whole == first + second);
}

/// Source that supplies at most `piece` bytes at once.
struct InPieces<'a> {
    log: &'a [u8],
    piece: usize,
}

impl Source for InPieces<'_> {
    fn byte_len(&self) -> u64 {
        self.log.len() as u64
    }

    fn read<'a>(&'a mut self, range: Range<u64>, _: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        let start = range.start as usize;
        let end = (range.end as usize).min(start.saturating_add(self.piece));
        Ok(&self.log[start..end])
    }
}

/// Reads one chunk separately and returns its number of rows.
fn read_again(source: &RowSource, chunk: usize, bytes: &[u8]) -> usize {
    let Some(mut reader) = ChunkReader::new(source, chunk) else {
        return 0;
    };
    loop {
        match reader.advance() {
            Ok(rows) => return rows.iter().count(),
            Err(needs) => {
                for Need(range) in needs {
                    let part = &bytes[range.start as usize..range.end as usize];
                    reader.supply(range.start, part);
                }
            }
        }
    }
}

/// Limit for the inflated size of compressed inputs; larger ones would only be slow.
const MAX_INFLATED: u64 = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Some((&pieces, log)) = bytes.split_first() else {
        return;
    };
    let piece = match pieces {
        0xFF => usize::MAX,
        other => 1 + usize::from(other) * 13,
    };
    let mut reader = LogReader::new(log.len() as u64)
        .with_rows(1 + u64::from(pieces))
        .with_inflate_limit(MAX_INFLATED);
    let mut display = DisplayOrder::new(|_: &Record<'_>| {}, Duration(1000));
    let (mut events, mut payload_bytes, mut end) = (0, 0, Nanos(0));
    let mut sink = |record: &Record<'_>| {
        events += 1;
        payload_bytes += record.payload.len();
        end = end.max(record.time);
        let event = record.event();
        if events < 1000 {
            drop(sentence(&event, record.header, &Names::default()));
            drop(event.fields());
        }
        display.offer(record);
    };
    let mut supplied = 0;
    let mut steps = 0u64;
    loop {
        steps += 1;
        let len = reader.len().0.max(log.len() as u64);
        let limit = 100_000 + 100 * len;
        assert!(steps < limit, "{steps} steps for {} bytes", log.len());
        match reader.advance(&mut sink, 1 + usize::from(pieces)) {
            Err(error) => {
                assert!(error.to_string().len() > 40);
                return;
            }
            Ok(Step::Need(needs)) => {
                for Need(range) in needs {
                    assert!(range.start < range.end && range.end <= log.len() as u64);
                    let start = range.start as usize;
                    let end = (range.end as usize).min(start.saturating_add(piece));
                    supplied += end - start;
                    reader.supply(range.start, &log[start..end]);
                }
            }
            Ok(Step::Done) => break,
            Ok(Step::More | Step::Indexed) => {}
        }
    }
    let _ = display.finish();
    let mut session = Session::new(log.len() as u64).with_inflate_limit(MAX_INFLATED);
    drive(&mut InPieces { log, piece }, &mut session).expect("it was read before");
    assert_eq!(session.events(), events as u64);
    assert_eq!(session.reader().accounting(), reader.accounting());
    assert_eq!(session.reader().damage(), reader.damage());
    ask_for_threads(&session.recording().store, end);
    let damage = reader.damage();
    for one in &damage.kept {
        drop(views::words::diagnostics::line(&one.into()));
    }
    let len = reader.len().0 as usize;
    // An event has at least ten bytes, and none is delivered twice.
    assert!(
        events * 10 + payload_bytes <= len,
        "{events} events of {len} bytes"
    );
    // For a heap profile in text, the size of the text.
    let file = reader
        .heap_report()
        .map_or(len as u64, |report| report.bytes);
    assert!(
        damage.lost_bytes <= file,
        "{} of {file} lost",
        damage.lost_bytes
    );
    let accounting = reader.accounting().expect("the log is read");
    assert_eq!(accounting.total(), len as u64, "{accounting:?}");
    // Index and merge each read the file once, plus some overlap.
    assert!(
        supplied <= 8 * log.len() + (1 << 20),
        "{supplied} of {}",
        log.len()
    );
    let Some(source) = reader.rows() else { return };
    let inflated = reader.inflated().and_then(Inflated::to_vec);
    let bytes = inflated.as_deref().unwrap_or(log);
    let again: usize = (0..source.index.chunks.len())
        .map(|chunk| read_again(source, chunk, bytes))
        .sum();
    assert_eq!(again, events, "events are found again");
});
