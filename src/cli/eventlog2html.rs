//! JSON output compatible with `eventlog2html --json`, for scripts that read it.
//!
//! Format according to the source of eventlog2html 0.12: an element of `samples` gives the bytes `y` of the band
//! named `c` at the second `x`, grouped by band. All bands that are not shown are summed up as `OTHER`, with the
//! number `k` 0; a larger `k` means an earlier band in the sort order. `traces` are markers, and `heap` has the
//! heap size (`k` 2), live bytes (0) and blocks in use (1).
//!
//! Its deviating arithmetic is imitated: the standard deviation includes two empty censuses, at time 0 and at the
//! last event of the file. One defect is not imitated: if the runtime reports a band in several pieces (`-hT`),
//! eventlog2html draws only the last piece; here, bands are drawn with all of their bytes, consistent with their
//! sums.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use serde::Serialize;

use super::heap::{BANDS, HeapRequest};
use super::{Failure, Input, Out};
use analysis::heap::ranking::BandOrder;
use analysis::heap::{Breakdown, HeapProfile, Label};
use eventlog::ids::{CostCentreId, Nanos};
use eventlog::{Event, EventSet, EventType, Record, Sink};
use model::census::{BandId, BandSums};
use model::time::Interval;

/// Filter of messages.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct Traces {
    /// With --eventlog2html: include messages of traceEvent, not only markers
    #[arg(long, requires = "eventlog2html")]
    include_trace_events: bool,
    /// With --eventlog2html: only messages with this text, or those that no other option excludes; may be repeated
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

/// Collector of the data besides the bands.
#[derive(Default)]
struct MarkerAndHeapSink<'a> {
    traces: Vec<Trace>,
    filter: Option<&'a Traces>,
    size: Vec<(Nanos, u64)>,
    live: Vec<(Nanos, u64)>,
    blocks: Vec<(Nanos, u64)>,
    /// Labels of cost centres, without their modules.
    centres: HashMap<CostCentreId, String>,
    /// Range of a cut log, whose events outside of it are left out.
    range: Option<Interval>,
    /// Offset and time of the last event in the file.
    last: (u64, Nanos),
}

impl Sink for MarkerAndHeapSink<'_> {
    const CONSUMES: EventSet = EventSet::ALL;

    fn event(&mut self, record: &Record<'_>) {
        let at = record.time;
        if self.range.is_none_or(|range| range.contains(at)) {
            self.last = self.last.max((record.offset.0, at));
        } else if record.id != EventType::HEAP_PROF_COST_CENTRE {
            return;
        }
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
                if self
                    .filter
                    .is_some_and(|filter| filter.include_trace_events) =>
            {
                self.trace(at, &msg.to_str());
            }
            _ => {}
        }
    }
}

impl MarkerAndHeapSink<'_> {
    fn trace(&mut self, at: Nanos, text: &str) {
        if self.filter.is_some_and(|filter| filter.wants(text)) {
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

/// Band as eventlog2html identifies it.
struct NamedBand {
    band: BandId,
    /// Sort key: the label or, for a stack, its number in order of first occurrence.
    key: String,
    name: String,
    sums: BandSums,
}

pub(super) fn print(
    request: &HeapRequest<'_>,
    input: &Input,
    out: &mut Out,
) -> Result<(), Failure> {
    let Some((number, profile)) = request.profiles().next() else {
        return Ok(());
    };
    let mut sink = MarkerAndHeapSink {
        filter: Some(&request.arguments.traces),
        range: request.range,
        ..MarkerAndHeapSink::default()
    };
    input.read(&mut sink)?;
    let Some(chosen) = request.session.heap(&request.choice(number), request.range) else {
        return Ok(());
    };
    let all = chosen.ranking.bands().iter();
    let mut band_rows: Vec<NamedBand> = all
        .map(|&(band, sums)| NamedBand {
            band,
            key: key(profile, band),
            name: name(request, &sink, profile, band),
            sums,
        })
        .filter(|band_row| band_row.name.contains(&request.arguments.filter))
        .collect();
    band_rows.sort_by(|a, b| b.sums.bytes.cmp(&a.sums.bytes).then(a.key.cmp(&b.key)));
    let most = match request.arguments.bands.unwrap_or(BANDS) {
        0 => usize::MAX,
        bands => bands as usize,
    };
    band_rows.truncate(most);
    band_rows.sort_by(|a, b| order(request, a, b));
    let document = Document {
        samples: samples(
            profile,
            chosen.ranking.censuses().clone(),
            &band_rows,
            sink.last.1,
        ),
        traces: &sink.traces,
        heap: sink.heap(),
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

/// Returns the name of a band: for a stack, its number and the label of its innermost cost centre; for an info
/// table, its name and address.
fn name(
    request: &HeapRequest<'_>,
    sink: &MarkerAndHeapSink<'_>,
    profile: &HeapProfile,
    band: BandId,
) -> String {
    match profile.label(band) {
        Some(Label::Stack(stack)) => {
            let innermost = stack.first().and_then(|id| sink.centres.get(id));
            format!("({}) {}", band.0, innermost.map_or("MAIN", String::as_str))
        }
        Some(Label::Text(text)) if profile.kind.breakdown == Breakdown::InfoTable => {
            match request.info_table(profile, band) {
                Some(table) => format!("{} ({text})", table.name),
                None => text.into_owned(),
            }
        }
        _ => request.label(profile, band),
    }
}

/// Compares bands as eventlog2html does: without `--reverse`, names ascend and numbers descend.
fn order(request: &HeapRequest<'_>, a: &NamedBand, b: &NamedBand) -> Ordering {
    let ascending = match request.arguments.sort {
        BandOrder::Size => a.sums.bytes.cmp(&b.sums.bytes),
        BandOrder::Deviation => deviation(&a.sums).total_cmp(&deviation(&b.sums)),
        BandOrder::Growth => {
            // Bands without a regression line sort below all others.
            let slope = |band_row: &NamedBand| band_row.sums.growth().map(|growth| growth.slope);
            let (a, b) = (slope(a), slope(b));
            a.is_some()
                .cmp(&b.is_some())
                .then(a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0)))
        }
        BandOrder::Name => b.key.cmp(&a.key),
    };
    if request.arguments.reverse {
        ascending
    } else {
        ascending.reverse()
    }
}

/// Returns the standard deviation over the censuses and two additional empty ones.
fn deviation(sums: &BandSums) -> f64 {
    let n = f64::from(sums.censuses) + 2.0;
    let (sum, squares) = (sums.bytes as f64, sums.squares as f64);
    (n * squares - sum * sum).max(0.0).sqrt() / n
}

/// Returns the samples of all bands in some censuses, sorted by key, followed by those of the bands that are not shown.
fn samples<'a>(
    profile: &HeapProfile,
    places: Range<u32>,
    band_rows: &'a [NamedBand],
    end: Nanos,
) -> Vec<Sample<'a>> {
    let censuses = &profile.censuses;
    let part = places.start as usize..places.end as usize;
    let times = censuses.times().get(part.clone()).unwrap_or_default();
    let times = std::iter::once(Nanos(0))
        .chain(times.iter().copied())
        .chain([end]);
    let times: Vec<f64> = times.map(seconds).collect();
    let totals = censuses.totals().get(part).unwrap_or_default();
    let mut others: Vec<u64> = totals.to_vec();
    let mut by_key: Vec<(usize, &NamedBand)> = band_rows.iter().enumerate().collect();
    by_key.sort_by(|a, b| a.1.key.cmp(&b.1.key));
    let mut samples = Vec::with_capacity((band_rows.len() + 1) * times.len());
    let mut push = |bytes: &[u64], k, c| {
        let framed = std::iter::once(0).chain(bytes.iter().copied()).chain([0]);
        let framed = times.iter().zip(framed);
        samples.extend(framed.map(|(&x, y)| Sample { x, y, k, c }));
    };
    for (place, band_row) in by_key {
        let bytes = censuses.series(band_row.band, places.clone());
        for (other, bytes) in others.iter_mut().zip(&bytes) {
            *other = other.saturating_sub(*bytes);
        }
        push(&bytes, band_rows.len() - place, band_row.name.as_str());
    }
    push(&others, 0, "OTHER");
    samples
}
