//! Sample tracks: profile samples of a capability.

use serde::{Deserialize, Serialize};

use super::details::{DetailField, Details, DetailsQuery, exact_time};
use super::legend::{FROM, LegendEntry, LegendMark, LegendSample, Section, TO, buckets};
use super::samples_paint::paint;
use super::stacks::{beginning, flame, heaviest, stack_facts};
use super::thread::Thread;
use super::{Log, Shape, TrackEntry, TrackKind, link};
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names, PaintInput};
use crate::tracks::words::{duration, when};
use analysis::timeline::profile_rows::SampleLane;
use eventlog::hash::SeededMap;
use eventlog::ids::{CapId, Nanos};
use model::class::Class;
use model::lane::Lane;
use model::marks::{MarkKind, MarkWriter, NONE, PackedPayload, Payload};
use model::profile::frames::{Frame, FrameId};
use model::profile::source::Source;
use scene::format;
use scene::painter::Painter;

/// Samples of a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Samples(pub CapId);

/// Index of a sample's function in the list of named functions. For several samples, it is the function of more
/// than half of those that are not idle, or else any of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplePayload(pub Option<u32>);

impl Payload for SamplePayload {
    fn pack(self) -> PackedPayload {
        PackedPayload([self.0.unwrap_or(NONE), 0, 0, 0])
    }

    fn unpack(packed: PackedPayload) -> Self {
        Self(packed.optional_word(0))
    }
}

impl TrackKind for Samples {
    type Payload = SamplePayload;

    const GROUP: TrackGroup = TrackGroup::Samples;
    const SHAPE: Shape = Shape::Samples;
    const SECTION: Section = Section::Profile;

    link::number_link!("samples", |cap| Self(CapId(cap)));

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let listed = |(cap, samples): (CapId, u64)| {
            TrackEntry::new(Self(cap), format!("Samples, cap {cap}"))
                .short(format!("Cap {cap}"))
                .note(format::count(samples))
        };
        let recording = &log.recording;
        let counts = recording.profile_rows.sample_counts(&recording.profiles);
        counts.map(listed)
    }

    fn cap(self) -> Option<CapId> {
        Some(self.0)
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let rows = &log.recording.profile_rows;
        if let Some(lane) = rows.samples(&log.recording.profiles, self.0) {
            writer.lane(&lane, |i| {
                SamplePayload(rows.sampled_function(lane.frame(i)))
            });
        }
    }

    fn paint(self, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
        paint(self, shown, painter);
    }

    fn describe(self, item: &Item, names: &dyn Names) -> (String, String) {
        let cap = self.0;
        let SamplePayload(number) = item.read();
        let function = number.and_then(|number| names.sampled_function(number));
        let function = function.map(Frame::display_name);
        if item.kind == MarkKind::Many {
            let busy = item.share(Class::Running) + item.share(Class::Gc);
            let busy = format::fraction(busy);
            let count = format::count(item.count.into());
            let (duration, when) = (duration(item), when(item));
            let of = function.map_or_else(String::new, |name| format!(", many in {name}"));
            let text = format!("{count} samples in {duration}: {busy} of it busy{of} · {when}");
            return (format!("Capability {cap}"), text);
        }
        let at = format::time(item.span.end());
        let name = function.unwrap_or_else(|| "A function".to_owned());
        (name, format!("sample of capability {cap} · at {at}"))
    }

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        let (cap, recording) = (self.0, &log.recording);
        let Some(lane) = recording.profile_rows.samples(&recording.profiles, cap) else {
            return Vec::new();
        };
        let source = recording.profile_rows.source();
        let samples = &lane.track.samples;
        let places = beginning(samples, query.span);
        if query.many {
            return several_samples(&lane, source, cap, places);
        }
        let found = places.filter_map(|place| samples.get(place));
        let Some((span, stack)) = found.into_iter().find(|(span, _)| *span == query.span) else {
            return Vec::new();
        };
        let mut facts = vec![DetailField::new("sampled at", exact_time(span.end()))];
        facts.extend(Details::for_log(log).ran(cap, span.end()));
        facts.push(flame(source, lane.track.source, span.middle()));
        stack_facts(lane.profile, stack, "in", &mut facts);
        facts
    }

    fn legend() -> Vec<LegendEntry> {
        let several = buckets(|place| {
            let busy = 0.5 + 0.4 * (place / 7.0).sin();
            vec![(Class::Running, busy), (Class::Other, 1.0 - busy)]
        });
        let several = several
            .into_iter()
            .zip(0u32..)
            .map(|(mark, place)| mark.with_payload(SamplePayload(Some(u32::from(place > 20)))));
        vec![
            LegendEntry::new(
                "Samples of a profile",
                "Innermost function on the capability at a tick of the profiler, in its color of the flame graph. A block extends back to the previous tick; the short line at its end is the tick. Adjacent samples of a function share one name.",
                LegendSample::row(
                    Self(CapId(0)),
                    ticks(&[(Class::Running, 0, 5), (Class::Running, 1, 3)], 10.0),
                ),
            ),
            LegendEntry::new(
                "A sample within a collection",
                "The timer ticked while the capability collected garbage.",
                LegendSample::row(Self(CapId(0)), ticks(&[(Class::Gc, 2, 1)], TO - FROM)),
            ),
            LegendEntry::new(
                "A sample of an idle capability",
                "Nothing ran at the tick: a thin line at the bottom. No line: no sample was taken.",
                LegendSample::row(Self(CapId(0)), ticks(&[(Class::Other, 0, 1)], TO - FROM)),
            ),
            LegendEntry::new(
                "Several samples in a pixel",
                "Bar height: share of samples that are not idle. Color: the function with more than half of these, or else one of them.",
                LegendSample::row(Self(CapId(0)), several.collect()),
            ),
        ]
    }
}

/// Returns consecutive samples for the legend: class, function and number of each group.
fn ticks(functions: &[(Class, u32, u32)], width_px: f64) -> Vec<LegendMark> {
    let each = functions
        .iter()
        .flat_map(|&(class, function, count)| (0..count).map(move |_| (class, function)));
    let sample_mark = each.scan(FROM, |from, (class, function)| {
        let mark = LegendMark::span(class, *from, *from + width_px)
            .with_payload(SamplePayload(Some(function)));
        *from += width_px;
        Some(mark)
    });
    sample_mark.collect()
}

fn several_samples(
    lane: &SampleLane<'_>,
    source: Source,
    cap: CapId,
    places: std::ops::Range<usize>,
) -> Vec<DetailField> {
    let count = places.len() as u64;
    let mut weights: SeededMap<FrameId, u64> = SeededMap::default();
    for frame in places.clone().filter_map(|place| lane.frame(place)) {
        *weights.entry(frame).or_default() += 1;
    }
    let mut facts = vec![DetailField::new("samples", format::count(count))];
    if let Some((span, _)) = lane.track.samples.get(places.start) {
        facts.push(flame(source, lane.track.source, span.middle()));
    }
    if let Some(longest) = lane.longest(places.start, places.end)
        && let Some((span, _)) = lane.track.samples.get(longest)
    {
        let at = format!("at {}", exact_time(span.end()));
        facts.push(DetailField::new("one of them", at).linked_to(Samples(cap), span));
    }
    let share = |weight: u64| {
        let share = format::percent(weight, count);
        format!("{}, {share}", format::count(weight))
    };
    heaviest(lane.profile, weights, "in", share, &mut facts);
    facts
}

impl Details<'_> {
    /// Returns the thread that ran on a capability at a time.
    fn ran(&self, cap: CapId, at: Nanos) -> Option<DetailField> {
        let (thread, run) = self.store.run_at(cap, at, &mut 0)?;
        let fact = DetailField::new("ran then", self.name(thread));
        Some(fact.linked_to(Thread(thread), run))
    }
}
