//! The JSON of `eventlog2html --json`, for scripts that read it.
//!
//! Its fields, after the source of eventlog2html 0.12: `samples` has bytes `y` of the band
//! named `c` at the second `x`, band after band, all others under `OTHER` with the number
//! `k` 0; the larger `k`, the earlier the band stands in the order. `traces` are markers,
//! `heap` is the size of the heap (`k` 2), live bytes (0) and blocks in use (1).
//!
//! What it counts otherwise than this program does itself is imitated: two empty censuses,
//! at 0 and at the last event of the file, are among those that deviation is taken over. Not
//! imitated is that of a band which the runtime tells in several pieces (`-hT`) only the last
//! piece is drawn: here a band is drawn with all of its bytes, as its sum has them.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde::Serialize;

use super::heap::{Asked, BANDS};
use super::{Failure, Input, Out};
use analysis::heap::ranking::Order;
use analysis::heap::{Breakdown, HeapProfile, Label};
use eventlog::ids::{CostCentreId, Nanos};
use eventlog::{Event, EventSet, EventType, Record, Sink};
use model::census::{BandId, BandSums};

/// Which messages are told.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Traces {
    /// With --eventlog2html: messages of traceEvent as well as markers
    #[arg(long, requires = "eventlog2html")]
    include_trace_events: bool,
    /// With --eventlog2html: only messages with this text, or those that nothing leaves out; may be repeated
    #[arg(long, value_name = "TEXT", requires = "eventlog2html")]
    include: Vec<String>,
    /// With --eventlog2html: no messages with this text; may be repeated
    #[arg(long, value_name = "TEXT", requires = "eventlog2html")]
    exclude: Vec<String>,
}

impl Traces {
    fn wants(&self, text: &str) -> bool {
        let in_it = |words: &[String]| words.iter().any(|word| text.contains(word.as_str()));
        let excluded = in_it(&self.exclude);
        match (self.include.is_empty(), self.exclude.is_empty()) {
            (true, _) => !excluded,
            (false, true) => in_it(&self.include),
            (false, false) => in_it(&self.include) || !excluded,
        }
    }
}

#[derive(Serialize)]
struct Sample<'a> {
    x: f64,
    y: u64,
    k: usize,
    c: &'a str,
}

#[derive(Serialize)]
struct Trace {
    tx: f64,
    desc: String,
}

#[derive(Serialize)]
struct HeapSample {
    x: f64,
    y: u64,
    c: &'static str,
    k: u8,
}

#[derive(Serialize)]
struct Document<'a> {
    samples: Vec<Sample<'a>>,
    traces: &'a [Trace],
    heap: Vec<HeapSample>,
}

/// What is told beside the bands.
#[derive(Default)]
struct Rest<'a> {
    traces: Vec<Trace>,
    asked: Option<&'a Traces>,
    size: Vec<(Nanos, u64)>,
    live: Vec<(Nanos, u64)>,
    blocks: Vec<(Nanos, u64)>,
    /// The labels of cost centres, without their modules.
    centres: HashMap<CostCentreId, String>,
    /// The event that stands last in the file: its place, and its time.
    last: (u64, Nanos),
}

impl Sink for Rest<'_> {
    const CONSUMES: EventSet = EventSet::ALL;

    fn event(&mut self, record: &Record<'_>) {
        let at = record.time;
        self.last = self.last.max((record.offset.0, at));
        match record.id {
            EventType::USER_MARKER
            | EventType::USER_MSG
            | EventType::LOG_MSG
            | EventType::HEAP_PROF_COST_CENTRE
            | EventType::HEAP_SIZE
            | EventType::HEAP_LIVE
            | EventType::BLOCKS_SIZE => {}
            _ => return,
        }
        match record.event() {
            Event::HeapSize { size_bytes, .. } => self.size.push((at, size_bytes)),
            Event::HeapLive { live_bytes, .. } => self.live.push((at, live_bytes)),
            Event::BlocksSize { blocks_size, .. } => self.blocks.push((at, blocks_size)),
            Event::HeapProfCostCentre { id, label, .. } => {
                self.centres.insert(id, label.0.to_str().into_owned());
            }
            Event::UserMarker { markername } => self.trace(at, &markername.to_str()),
            Event::UserMessage { msg } | Event::Message { msg }
                if self.asked.is_some_and(|asked| asked.include_trace_events) =>
            {
                self.trace(at, &msg.to_str());
            }
            _ => {}
        }
    }
}

impl Rest<'_> {
    fn trace(&mut self, at: Nanos, text: &str) {
        if self.asked.is_some_and(|asked| asked.wants(text)) {
            let desc = text.to_owned();
            self.traces.push(Trace {
                tx: seconds(at),
                desc,
            });
        }
    }

    fn heap(&self) -> Vec<HeapSample> {
        let series = [
            (&self.size, "Heap Size", 2),
            (&self.live, "Live Bytes", 0),
            (&self.blocks, "Blocks Size", 1),
        ];
        let samples = series.into_iter().flat_map(|(samples, c, k)| {
            let samples = samples.iter();
            samples.map(move |&(at, y)| HeapSample {
                x: seconds(at),
                y,
                c,
                k,
            })
        });
        samples.collect()
    }
}

fn seconds(at: Nanos) -> f64 {
    at.0 as f64 * 1e-9
}

/// A band as eventlog2html knows it.
struct Bucket {
    band: BandId,
    /// What it is known by: of a stack its number, in the order in which they are met.
    key: String,
    name: String,
    sums: BandSums,
}

pub(super) fn print(asked: &Asked<'_>, input: &Input, out: &mut Out) -> Result<(), Failure> {
    let Some((number, profile)) = asked.profiles().next() else {
        return Ok(());
    };
    let mut rest = Rest {
        asked: Some(&asked.arguments.traces),
        ..Rest::default()
    };
    input.read(&mut rest)?;
    let Some(chosen) = asked.session.heap(&asked.choice(number), None) else {
        return Ok(());
    };
    let all = chosen.ranking.bands().iter();
    let mut buckets: Vec<Bucket> = all
        .map(|&(band, sums)| Bucket {
            band,
            key: key(profile, band),
            name: name(asked, &rest, profile, band),
            sums,
        })
        .filter(|bucket| bucket.name.contains(&asked.arguments.filter))
        .collect();
    buckets.sort_by(|a, b| b.sums.bytes.cmp(&a.sums.bytes).then(a.key.cmp(&b.key)));
    let most = match asked.arguments.bands.unwrap_or(BANDS) {
        0 => usize::MAX,
        bands => bands as usize,
    };
    buckets.truncate(most);
    buckets.sort_by(|a, b| order(asked, a, b));
    let document = Document {
        samples: samples(profile, &buckets, rest.last.1),
        traces: &rest.traces,
        heap: rest.heap(),
    };
    Ok(out.json(&document)?)
}

fn key(profile: &HeapProfile, band: BandId) -> String {
    match profile.label(band) {
        Some(Label::Text(text)) => text.into_owned(),
        Some(Label::Stack(_)) => band.0.to_string(),
        Some(Label::Rest) | None => "rest".to_owned(),
    }
}

/// A stack by its number and the label of its innermost centre; an info table by its name
/// and address.
fn name(asked: &Asked<'_>, rest: &Rest<'_>, profile: &HeapProfile, band: BandId) -> String {
    match profile.label(band) {
        Some(Label::Stack(stack)) => {
            let innermost = stack.first().and_then(|id| rest.centres.get(id));
            format!("({}) {}", band.0, innermost.map_or("MAIN", String::as_str))
        }
        Some(Label::Text(text)) if profile.kind.breakdown == Breakdown::InfoTable => {
            match asked.info_table(profile, band) {
                Some(table) => format!("{} ({text})", table.name),
                None => text.into_owned(),
            }
        }
        _ => asked.label(profile, band),
    }
}

/// Its orders. Without `--reverse` names ascend, all else descends.
fn order(asked: &Asked<'_>, a: &Bucket, b: &Bucket) -> Ordering {
    let ascending = match asked.arguments.sort {
        Order::Size => a.sums.bytes.cmp(&b.sums.bytes),
        Order::Deviation => deviation(&a.sums).total_cmp(&deviation(&b.sums)),
        Order::Growth => {
            // Bands without a line are below all others.
            let slope = |bucket: &Bucket| bucket.sums.growth().map(|growth| growth.slope);
            let (a, b) = (slope(a), slope(b));
            a.is_some()
                .cmp(&b.is_some())
                .then(a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0)))
        }
        Order::Name => b.key.cmp(&a.key),
    };
    if asked.arguments.reverse {
        ascending
    } else {
        ascending.reverse()
    }
}

/// The standard deviation, with two empty censuses more than there are.
fn deviation(sums: &BandSums) -> f64 {
    let n = f64::from(sums.censuses) + 2.0;
    let (sum, squares) = (sums.bytes as f64, sums.squares as f64);
    (n * squares - sum * sum).max(0.0).sqrt() / n
}

/// All bands with their bytes in each census, by their keys; what is not shown is last.
fn samples<'a>(profile: &HeapProfile, buckets: &'a [Bucket], end: Nanos) -> Vec<Sample<'a>> {
    let censuses = &profile.censuses;
    let places = 0..censuses.len() as u32;
    let times = std::iter::once(Nanos(0))
        .chain(censuses.times().iter().copied())
        .chain([end]);
    let times: Vec<f64> = times.map(seconds).collect();
    let mut others: Vec<u64> = censuses.totals().to_vec();
    let mut by_key: Vec<(usize, &Bucket)> = buckets.iter().enumerate().collect();
    by_key.sort_by(|a, b| a.1.key.cmp(&b.1.key));
    let mut samples = Vec::with_capacity((buckets.len() + 1) * times.len());
    let mut push = |bytes: &[u64], k, c| {
        let framed = std::iter::once(0).chain(bytes.iter().copied()).chain([0]);
        let framed = times.iter().zip(framed);
        samples.extend(framed.map(|(&x, y)| Sample { x, y, k, c }));
    };
    for (place, bucket) in by_key {
        let bytes = censuses.series(bucket.band, places.clone());
        for (other, bytes) in others.iter_mut().zip(&bytes) {
            *other = other.saturating_sub(*bytes);
        }
        push(&bytes, buckets.len() - place, bucket.name.as_str());
    }
    push(&others, 0, "OTHER");
    samples
}
