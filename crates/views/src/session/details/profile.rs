//! Foreign calls and profile samples: with the stack, and where they are in
//! the flame graph.

use rustc_hash::FxHashMap;

use super::{Details, MOST_LISTED, exact, exact_duration};
use crate::scene::format;
use crate::scene::words::function_name;
use crate::session::Session;
use analysis::flamegraph::sources;
use analysis::timeline::details::{DetailsQuery, Fact, FlameTarget, Lead};
use analysis::timeline::profile_rows::{OPEN, SampleLane};
use analysis::timeline::row::{CallsOf, Row};
use analysis::timeline::user_spans::SpanPrefixes;
use eventlog::ids::{CapId, Nanos};
use model::lane::{Lane, partition};
use model::profile::frames::{FrameId, FrameKind};
use model::profile::samples::Samples;
use model::profile::source::Source;
use model::profile::stacks::StackId;
use model::profile::{Profile, Track, TrackSource};
use model::time::Span;

/// So many functions of a stack are listed.
const MOST_FRAMES: usize = 30;
/// Over how many parts of a call it is followed.
const MOST_PARTS: usize = 100_000;

/// A function as it stands in a stack: with its place in the source.
fn frame_text(profile: &Profile, frame: FrameId) -> String {
    let Some(frame) = profile.frames.get(frame) else {
        return "unknown".to_owned();
    };
    let kind = match frame.kind {
        FrameKind::ForeignCall => " (foreign call)",
        FrameKind::Foreign => " (foreign code)",
        _ => "",
    };
    let name = function_name(frame);
    match &frame.location {
        Some(location) => format!("{name}{kind} · {location}"),
        None => format!("{name}{kind}"),
    }
}

/// The functions of a stack, innermost first, a line each.
fn stack_facts(profile: &Profile, stack: StackId, first: &str, facts: &mut Vec<Fact>) {
    let frames = profile.stacks.innermost_first(stack).take(MOST_FRAMES);
    for (place, frame) in frames.enumerate() {
        let label = if place == 0 { first } else { "called from" };
        facts.push(Fact::new(label, frame_text(profile, frame)));
    }
    let depth = usize::from(profile.stacks.depth(stack));
    if depth > MOST_FRAMES {
        let more = format::count((depth - MOST_FRAMES) as u64);
        facts.push(Fact::new("and", format!("{more} more")));
    }
}

/// The functions with the greatest weights, a line each.
fn heaviest(
    profile: &Profile,
    weights: FxHashMap<FrameId, u64>,
    label: &str,
    text: impl Fn(u64) -> String,
    facts: &mut Vec<Fact>,
) {
    let mut all: Vec<(FrameId, u64)> = weights.into_iter().collect();
    all.sort_unstable_by_key(|(frame, weight)| (std::cmp::Reverse(*weight), *frame));
    for (frame, weight) in all.iter().take(MOST_LISTED) {
        let name = frame_text(profile, *frame);
        facts.push(Fact::new(label, format!("{name}: {}", text(*weight))));
    }
    if all.len() > MOST_LISTED {
        let more = match all.len() - MOST_LISTED {
            1 => "1 more function".to_owned(),
            more => format!("{} more functions", format::count(more as u64)),
        };
        facts.push(Fact::new("and", more));
    }
}

fn flame(source: Source, track: TrackSource, at: Nanos) -> Fact {
    let target = FlameTarget { source, track, at };
    Fact::new("flame graph", "show it there").in_flame(target)
}

/// The samples that begin in a stretch of time.
fn beginning(samples: &Samples, span: Span) -> std::ops::Range<usize> {
    let start = |index: usize| samples.get(index).map_or(Nanos(0), |(span, _)| span.start);
    let from = partition(samples.len(), |index| start(index) < span.start);
    let to = partition(samples.len(), |index| start(index) < span.end);
    from..to.max(from)
}

impl Session {
    pub(super) fn sample_details(
        &self,
        details: &Details<'_>,
        cap: CapId,
        query: &DetailsQuery,
    ) -> Vec<Fact> {
        let recording = &self.recording;
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
        let mut facts = vec![Fact::new("sampled at", exact(span.end))];
        facts.extend(details.ran(cap, span.end));
        facts.push(flame(source, lane.track.source, middle(span)));
        stack_facts(lane.profile, stack, "in", &mut facts);
        facts
    }

    pub(super) fn call_details(
        &self,
        details: &Details<'_>,
        of: CallsOf,
        query: &DetailsQuery,
    ) -> Vec<Fact> {
        let recording = &self.recording;
        let found = recording.profile_rows.calls(of);
        let profile = recording.profiles.get(sources::COST_CENTRES);
        let track = profile.and_then(|profile| {
            let mut tracks = profile.tracks.iter();
            tracks.find(|track| track.source == of.source())
        });
        let (Some(lane), Some(profile), Some(track)) = (found, profile, track) else {
            return Vec::new();
        };
        let calls = Calls { profile, track };
        if query.many {
            let begin = |i: usize| lane.span(i).0;
            let from = partition(lane.len(), |i| begin(i) < query.span.start.0);
            let to = partition(lane.len(), |i| begin(i) < query.span.end.0);
            let spans = (from..to.max(from)).map(|i| lane.span(i));
            return calls.several(spans, query.row);
        }
        let place = partition(lane.len(), |i| lane.span(i).0 < query.span.start.0);
        let piece = lane.get(place).filter(|piece| {
            let span = Span::new(Nanos(piece.start), Nanos(piece.end));
            span == query.span
        });
        piece.map_or_else(Vec::new, |piece| {
            calls.one(details, query.span, piece.code == OPEN.0)
        })
    }
}

fn middle(span: Span) -> Nanos {
    Nanos(span.start.0 + span.duration().0 / 2)
}

fn several_samples(
    lane: &SampleLane<'_>,
    source: Source,
    cap: CapId,
    places: std::ops::Range<usize>,
) -> Vec<Fact> {
    let count = places.len() as u64;
    let mut weights: FxHashMap<FrameId, u64> = FxHashMap::default();
    for frame in places.clone().filter_map(|place| lane.frame(place)) {
        *weights.entry(frame).or_default() += 1;
    }
    let mut facts = vec![Fact::new("samples", format::count(count))];
    if let Some((span, _)) = lane.track.samples.get(places.start) {
        facts.push(flame(source, lane.track.source, middle(span)));
    }
    if let Some(longest) = lane.longest(places.start, places.end)
        && let Some((span, _)) = lane.track.samples.get(longest)
    {
        let at = format!("at {}", exact(span.end));
        facts.push(Fact::new("one of them", at).leading(Lead::Other, Row::Samples(cap), span));
    }
    let share = |weight: u64| {
        let share = format::percent(weight, count);
        format!("{}, {share}", format::count(weight))
    };
    heaviest(lane.profile, weights, "in", share, &mut facts);
    facts
}

impl Details<'_> {
    /// The thread that ran on a capability at a time.
    fn ran(&self, cap: CapId, at: Nanos) -> Option<Fact> {
        let thread = self.store.running(cap, at, &mut 0)?;
        let run = self.run_at(cap, at)?;
        let fact = Fact::new("ran then", self.name(thread));
        Some(fact.leading(Lead::Other, Row::Thread(thread), run))
    }

    /// The number of the call of a function that began at a time, and the
    /// thread that made it, as its `START` has them.
    fn announced(&self, at: Nanos, function: &str) -> Vec<Fact> {
        let prefixes = SpanPrefixes::default();
        for place in self.messages.places(Span::new(at, at)).take(MOST_LISTED) {
            let Some(message) = self.messages.get(place) else {
                continue;
            };
            let start = prefixes.parse(&message.text);
            let Some(start) = start.filter(|one| one.start && one.name == function) else {
                continue;
            };
            let mut facts = vec![Fact::new("number", start.number)];
            let by = message.cap.and_then(|cap| {
                let thread = self.store.running(cap, at, &mut 0)?;
                let text = format!("{} on capability {cap}", self.name(thread));
                let fact = Fact::new("called by", text);
                let run = self.run_at(cap, at)?;
                Some(fact.leading(Lead::Other, Row::Thread(thread), run))
            });
            facts.extend(by);
            return facts;
        }
        Vec::new()
    }
}

/// The calls of an OS thread.
struct Calls<'a> {
    profile: &'a Profile,
    track: &'a Track,
}

impl Calls<'_> {
    /// The stack up to the innermost foreign call.
    fn call_of(&self, mut stack: StackId) -> StackId {
        while stack != StackId::EMPTY {
            let frame = self.profile.stacks.frame(stack);
            let frame = frame.and_then(|frame| self.profile.frames.get(frame));
            if frame.is_some_and(|frame| frame.kind == FrameKind::ForeignCall) {
                return stack;
            }
            stack = self.profile.stacks.parent(stack);
        }
        stack
    }

    /// Whether a call is that one, or was made by a callback of it.
    fn is_within(&self, mut stack: StackId, call: StackId) -> bool {
        let depth = self.profile.stacks.depth(call);
        while self.profile.stacks.depth(stack) > depth {
            stack = self.profile.stacks.parent(stack);
        }
        stack == call
    }

    fn one(&self, details: &Details<'_>, span: Span, open: bool) -> Vec<Fact> {
        let samples = &self.track.samples;
        let places = beginning(samples, span);
        let Some((_, stack)) = samples.get(places.start) else {
            return Vec::new();
        };
        let call = self.call_of(stack);
        let whole = self.whole(call, places.clone());
        let function = self.profile.stacks.frame(call);
        let function = function.and_then(|frame| self.profile.frames.get(frame));
        let mut facts = Vec::new();
        if let Some(function) = function {
            facts.extend(details.announced(whole.start, &function.label));
        }
        details.duration_facts(span, &mut facts);
        if whole != span {
            let text = format!(
                "{}, {} – {}: callbacks called out meanwhile",
                exact_duration(whole.duration()),
                format::time(whole.start),
                format::time(whole.end)
            );
            facts.push(Fact::new("a part of the call for", text));
        }
        if open {
            facts.push(Fact::new("returned", "not before the log ended"));
        }
        let source = self.track.source;
        facts.push(flame(sources::COST_CENTRES, source, middle(span)));
        self.inside(call, places, &mut facts);
        let caller = self.profile.stacks.parent(call);
        if caller != StackId::EMPTY {
            stack_facts(self.profile, caller, "called from", &mut facts);
        }
        facts
    }

    /// From the begin of a call to its end, with what its callbacks called.
    fn whole(&self, call: StackId, places: std::ops::Range<usize>) -> Span {
        let samples = &self.track.samples;
        let get = |place: usize| samples.get(place);
        let first = get(places.start).map_or(Span::new(Nanos(0), Nanos(0)), |(span, _)| span);
        let last = places.end.checked_sub(1).and_then(get);
        let mut whole = Span::new(first.start, last.map_or(first.end, |(span, _)| span.end));
        for place in (0..places.start).rev().take(MOST_PARTS) {
            match get(place) {
                Some((span, stack)) if span.end == whole.start && self.is_within(stack, call) => {
                    whole.start = span.start;
                }
                _ => break,
            }
        }
        for place in (places.end..samples.len()).take(MOST_PARTS) {
            match get(place) {
                Some((span, stack)) if span.start == whole.end && self.is_within(stack, call) => {
                    whole.end = span.end;
                }
                _ => break,
            }
        }
        whole
    }

    /// For how long which functions of foreign code ran in it.
    fn inside(&self, call: StackId, places: std::ops::Range<usize>, facts: &mut Vec<Fact>) {
        let mut weights: FxHashMap<FrameId, u64> = FxHashMap::default();
        for (span, stack) in places.filter_map(|place| self.track.samples.get(place)) {
            if stack != call
                && let Some(frame) = self.profile.stacks.frame(stack)
            {
                *weights.entry(frame).or_default() += span.duration().0;
            }
        }
        let time = |ns: u64| format::duration(Nanos(ns));
        heaviest(self.profile, weights, "in it", time, facts);
    }

    /// How many calls there are, how long they are together, the longest of
    /// them, and of which functions they are.
    fn several(&self, spans: impl Iterator<Item = (u64, u64)>, row: Row) -> Vec<Fact> {
        let mut weights: FxHashMap<FrameId, u64> = FxHashMap::default();
        let (mut count, mut total) = (0u64, 0u64);
        let mut longest: Option<Span> = None;
        for (start, end) in spans {
            let span = Span::new(Nanos(start), Nanos(end));
            count += 1;
            total = total.saturating_add(end - start);
            if longest.is_none_or(|longest| span.duration() > longest.duration()) {
                longest = Some(span);
            }
            let stack = self
                .track
                .samples
                .get(beginning(&self.track.samples, span).start);
            let call = stack.map_or(StackId::EMPTY, |(_, stack)| self.call_of(stack));
            if let Some(frame) = self.profile.stacks.frame(call) {
                *weights.entry(frame).or_default() += end - start;
            }
        }
        let Some(longest) = longest else {
            return Vec::new();
        };
        let time = |ns: u64| format::duration(Nanos(ns));
        let mut facts = vec![
            Fact::new("calls", format::count(count)),
            Fact::new("together", time(total)),
            Fact::new("longest", format::duration(longest.duration())).leading(
                Lead::Other,
                row,
                longest,
            ),
            flame(sources::COST_CENTRES, self.track.source, middle(longest)),
        ];
        heaviest(self.profile, weights, "to", time, &mut facts);
        facts
    }
}
