//! Answer of the heap chart query.

use super::Session;
use super::query::{Host, Query, columns, optional_columns, range_field};
use crate::heap::chart::OverlayKind;
use crate::heap::chart::stacks::{MAX_PX, censuses_to_draw, in_view, stacks_of};
use crate::heap::chart::{Chart, ChartBand, ChartQuery, Overlay};
use crate::heap::choice::SelectedBands;
use crate::heap::colors::{OTHERS, slots};
use crate::tracks::memory::Memory;
use crate::tracks::{Log, TimelineQuery};
use analysis::heap::HeapProfile;
use analysis::yielder::{NoYield, block_on};
use eventlog::ids::Nanos;
use model::census::{BandId, BandSums};
use model::gauge::Samples;
use model::time::Interval;

/// Maximum number of messages drawn on a chart.
const MAX_MESSAGES: usize = 200;
/// Maximum number of messages searched for matching ones.
const MAX_SEARCHED_MESSAGES: usize = 200_000;

/// `None` if the log has no such profile.
impl Query for ChartQuery {
    type Answer = Option<Chart>;
    const NAME: &'static str = "chart of the heap";

    range_field!(range);

    async fn answer(&self, log: &Session, _: &dyn Host) -> Option<Chart> {
        log.heap_chart(self)
    }

    optional_columns!();
}

columns!(Chart {
    stacks.census, stacks.at, stacks.total, stacks.bytes,
    over.memory.row, over.memory.series, over.memory.start, over.memory.end,
    over.memory.min, over.memory.max, over.memory.mean, over.memory.last,
    over.collections,
});

impl Session {
    /// Computes a chart; `None` if the log has no such profile.
    pub fn heap_chart(&self, query: &ChartQuery) -> Option<Chart> {
        let chosen = self.heap(&query.choice, query.range)?;
        let profile = self.recording.heap().selected(query.choice.profile)?;
        let log = self.log();
        let end = self.recording.end();
        let axis = axis(profile, query.view.or(log.span));
        let places = chosen.bands.clip_to_named(in_view(profile, axis, end));
        let picked = censuses_to_draw(profile, places.clone(), axis, query.width_px);
        let in_view = profile.censuses_in(Some(axis), end);
        Some(Chart {
            axis,
            timed: profile.is_timed(),
            bands: bands(&chosen, profile, query),
            hidden: hidden(&chosen, query),
            others: chosen.others.len() as u32,
            in_range: chosen.ranking.bands().len() as u32,
            censuses: profile.censuses.len() as u32,
            censuses_in_range: chosen.ranking.censuses().len() as u32,
            censuses_in_view: in_view.len() as u32,
            sum_in_range: chosen.ranking.bytes() as f64,
            stacks: stacks_of(&chosen, profile, places, picked),
            over: overlay(&log, query, axis),
        })
    }
}

/// Returns the horizontal axis: time, or census numbers if the censuses have no times.
fn axis(profile: &HeapProfile, view: Option<Interval>) -> Interval {
    if profile.is_timed() {
        view.unwrap_or_default()
    } else {
        let last = profile.censuses.len().saturating_sub(1) as u64;
        Interval::new(Nanos(0), Nanos(last.max(1)))
    }
}

/// Returns the shown bands with their colors, followed by the sum of all others.
fn bands(chosen: &SelectedBands, profile: &HeapProfile, query: &ChartQuery) -> Vec<ChartBand> {
    let keys: Vec<&str> = chosen
        .shown
        .iter()
        .map(|&band| chosen.bands.key(band))
        .collect();
    let pinned = query.choice.pinned.as_deref();
    let band = |(&band, slot): (&BandId, u8)| {
        let key = chosen.bands.key(band);
        let sums: BandSums = chosen.ranking.sums(band);
        ChartBand {
            key: key.to_owned(),
            is_rest: false,
            name: chosen.bands.name(band).to_owned(),
            slot,
            pinned: pinned == Some(key),
            first: sums.first as f64,
            last: sums.last as f64,
            max: sums.max as f64,
            sum: sums.bytes as f64,
        }
    };
    let mut bands: Vec<ChartBand> = chosen.shown.iter().zip(slots(&keys)).map(band).collect();
    if !chosen.others.is_empty() {
        let range = chosen.ranking.censuses().clone();
        let others = chosen.others_in(profile, range);
        let value = |bytes: Option<&u64>| bytes.copied().unwrap_or_default() as f64;
        bands.push(ChartBand {
            is_rest: true,
            name: "all others".to_owned(),
            slot: OTHERS,
            first: value(others.first()),
            last: value(others.last()),
            max: value(others.iter().max()),
            sum: others.iter().map(|&bytes| bytes as f64).sum(),
            ..ChartBand::default()
        });
    }
    bands
}

/// Returns the keys and names of the hidden bands. A band that holds nothing in the range has its key as name.
fn hidden(chosen: &SelectedBands, query: &ChartQuery) -> Vec<(String, String)> {
    if query.choice.hidden.is_empty() {
        return Vec::new();
    }
    let keys = chosen.ranking.bands().iter().map(|(band, _)| *band);
    let known: Vec<BandId> = keys
        .filter(|&band| {
            query
                .choice
                .hidden
                .iter()
                .any(|key| key == chosen.bands.key(band))
        })
        .collect();
    let pair = |key: &String| {
        let band = known.iter().find(|&&band| chosen.bands.key(band) == key);
        let name = band.map_or(key.as_str(), |&band| chosen.bands.name(band));
        (key.clone(), name.to_owned())
    };
    query.choice.hidden.iter().map(pair).collect()
}

fn overlay(log: &Log<'_>, query: &ChartQuery, axis: Interval) -> Overlay {
    let wanted = |over: OverlayKind| query.over.contains(&over);
    let mut overlay = Overlay::default();
    let profile = log.recording.heap().selected(query.choice.profile);
    if !profile.is_some_and(HeapProfile::is_timed) {
        // Without times there is no place to draw them.
        return overlay;
    }
    let width_px = query.width_px.clamp(1, MAX_PX);
    overlay.lines = [OverlayKind::Size, OverlayKind::Blocks, OverlayKind::Live].map(wanted);
    if overlay.lines.contains(&true) {
        let question = TimelineQuery {
            view: axis,
            width_px,
            rows: vec![Memory::Heap.into()],
            ..TimelineQuery::default()
        };
        overlay.memory = block_on(question.marks(log, &NoYield)).points;
    }
    if wanted(OverlayKind::Collections) {
        let pixel_ns = axis.duration().0.div_ceil(u64::from(width_px)).max(1);
        overlay.collections = collections(log, axis, pixel_ns);
    }
    if wanted(OverlayKind::Messages) {
        messages(log, query, axis, &mut overlay);
    }
    overlay
}

/// Returns the times of major collections, at most one per pixel: only these measure live data.
fn collections(log: &Log<'_>, axis: Interval, pixel_ns: u64) -> Vec<f64> {
    let live = log.recording.numbers.live();
    let mut found = Vec::new();
    let mut at = live.first_at(axis.start().0);
    while at < live.len() && live.time(at) <= axis.end().0 {
        let time = live.time(at);
        found.push(time as f64);
        let next = (time / pixel_ns + 1).saturating_mul(pixel_ns);
        // Guarantees progress when times go backwards in a damaged log.
        at = live.first_at(next).max(at + 1);
    }
    found
}

fn messages(log: &Log<'_>, query: &ChartQuery, axis: Interval, overlay: &mut Overlay) {
    let messages = &log.recording.messages;
    let (include, exclude) = (query.include.to_lowercase(), query.exclude.to_lowercase());
    let is_wanted = |text: &str| {
        let text = text.to_lowercase();
        text.contains(&include) && (exclude.is_empty() || !text.contains(&exclude))
    };
    for place in messages.indexes_in(axis).take(MAX_SEARCHED_MESSAGES) {
        let Some(message) = messages
            .get(place)
            .filter(|message| is_wanted(&message.text))
        else {
            continue;
        };
        if overlay.messages.len() < MAX_MESSAGES {
            overlay.messages.push((message.time, message.text));
        } else {
            overlay.more_messages += 1;
        }
    }
}
