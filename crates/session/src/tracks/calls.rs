//! Foreign call tracks: calls announced by the program, by OS thread.

use serde::{Deserialize, Serialize};

use super::details::{DetailField, Details, DetailsQuery, MAX_LISTED, exact_duration};
use super::lane::{self, SpanPayload};
use super::legend::{FROM, LegendEntry, LegendMark, LegendSample, Section, TO, buckets};
use super::stacks::{beginning, flame, heaviest, stack_facts};
use super::thread::Thread;
use super::{Log, LogContents, Shape, TrackEntry, TrackId, TrackKind, link};
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names};
use crate::tracks::words::{duration, when};
use analysis::flamegraph::sources;
use analysis::timeline::profile_rows::{Caller, OPEN};
use analysis::timeline::user_spans::SpanPrefixes;
use eventlog::hash::SeededMap;
use eventlog::ids::{Nanos, OsThreadId};
use model::class::Class;
use model::lane::{Lane, partition};
use model::marks::{MarkKind, MarkView, MarkWriter};
use model::profile::frames::{Frame, FrameId, FrameKind};
use model::profile::stacks::StackId;
use model::profile::{Profile, Track};
use model::time::Interval;
use scene::format;
use scene::strip::Bar;

/// Foreign calls of an OS thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ForeignCalls(pub Caller);

/// Maximum number of parts over which a call is followed in each direction.
const MAX_PARTS: usize = 100_000;

impl TrackKind for ForeignCalls {
    /// The detail is the index of the function in the list of named functions, or [`NONE`](model::marks::NONE).
    type Payload = SpanPayload;

    const GROUP: TrackGroup = TrackGroup::ForeignCalls;
    const SHAPE: Shape = Shape::Lane;
    const SECTION: Section = Section::Profile;
    const BAR_CLASS: Class = Class::Foreign;

    fn link(self, _: &LogContents) -> String {
        match self.0 {
            Caller::OsThread(thread) => format!("calls{thread}"),
            Caller::Unknown { lane } => format!("callsunknown{lane}"),
        }
    }

    fn parse(link: &str, _: &LogContents) -> Option<Self> {
        if let Some(number) = link::number(link, "calls") {
            return Some(Self(Caller::OsThread(OsThreadId(number))));
        }
        let lane = link::number(link, "callsunknown")?;
        Some(Self(Caller::Unknown { lane }))
    }

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let listed = |(of, calls): (Caller, u64)| {
            let (title, short) = match of {
                Caller::OsThread(thread) => {
                    (format!("Calls, OS thread {thread}"), format!("OS {thread}"))
                }
                Caller::Unknown { lane: 0 } => {
                    ("Calls, unknown OS thread".to_owned(), "OS ?".to_owned())
                }
                Caller::Unknown { lane } => {
                    let number = lane + 1;
                    let title = format!("Calls, unknown OS thread ({number})");
                    (title, format!("OS ? {number}"))
                }
            };
            let note = format!("× {}", format::count(calls));
            TrackEntry::new(Self(of), title).short(short).note(note)
        };
        log.recording.profile_rows.call_counts().map(listed)
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        if let Some(lane) = log.recording.profile_rows.calls(self.0) {
            writer.lane(lane, |i| SpanPayload::new(lane, i));
        }
    }

    /// Returns a bar with the name of the function, and with the duration if there is room.
    fn bar(mark: &MarkView<'_>, names: &dyn Names) -> Bar {
        let SpanPayload { detail, open } = mark.read();
        let bar = lane::by_duration(mark).open(open);
        match names.foreign_function(detail) {
            Some(frame) => bar.with_name(&frame.display_name()),
            None => bar,
        }
    }

    fn describe(self, item: &Item, names: &dyn Names) -> (String, String) {
        let on = match self.0 {
            Caller::OsThread(thread) => format!("OS thread {thread}"),
            Caller::Unknown { .. } => "unknown OS thread".to_owned(),
        };
        if item.kind == MarkKind::Many {
            return (
                format!("Calls on {on}"),
                lane::several(item, "foreign calls"),
            );
        }
        let SpanPayload { detail, open } = item.read();
        let function = names.foreign_function(detail);
        let name = function.map_or_else(|| "Foreign call".to_owned(), Frame::display_name);
        let open = lane::unfinished(open);
        let (duration, when) = (duration(item), when(item));
        (
            name,
            format!("foreign call on {on} for {duration}{open} · {when}"),
        )
    }

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        let (of, recording) = (self.0, &log.recording);
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
            let from = partition(lane.len(), |i| begin(i) < query.span.start().0);
            let to = partition(lane.len(), |i| begin(i) < query.span.end().0);
            let spans = (from..to.max(from)).map(|i| lane.interval(i));
            return calls.several(spans, query.row);
        }
        let piece = lane::find_exact(lane, query.span);
        piece.map_or_else(Vec::new, |piece| {
            calls.one(&Details::for_log(log), query.span, piece.code == OPEN)
        })
    }

    fn class_of(self, item: &Item) -> Option<Class> {
        Some(item.class)
    }

    fn legend() -> Vec<LegendEntry> {
        let calls = Self(Caller::OsThread(OsThreadId(7)));
        let one = |open| {
            let mark = LegendMark::span(Class::Foreign, FROM, TO);
            let mark = mark.with_payload(SpanPayload { detail: 0, open });
            LegendSample::row(calls, vec![mark])
        };
        let several = buckets(|place| vec![(Class::Foreign, 0.5 + 0.4 * (place / 7.0).sin())]);
        vec![
            LegendEntry::new(
                "A foreign call",
                "Foreign call on an OS thread, announced by the program (“START 3 blur”, then “ANN_TH 3 blur” with the thread). A nested call from a callback replaces the outer one.",
                one(false),
            ),
            LegendEntry::new(
                "An unfinished foreign call",
                "The log ended before its end.",
                one(true),
            ),
            LegendEntry::new(
                "Several foreign calls in a pixel",
                "Bar height: their share of the time.",
                LegendSample::row(calls, several),
            ),
        ]
    }
}

impl Details<'_> {
    /// Returns the call number and the calling thread from the `START` message of a function at a time.
    fn announced(&self, at: Nanos, function: &str) -> Vec<DetailField> {
        let prefixes = SpanPrefixes::default();
        for place in self
            .messages
            .indexes_in(Interval::empty_at(at))
            .take(MAX_LISTED)
        {
            let Some(message) = self.messages.get(place) else {
                continue;
            };
            let start = prefixes.parse(&message.text);
            let Some(start) = start.filter(|one| one.start && one.name == function) else {
                continue;
            };
            let mut facts = vec![DetailField::new("number", start.number)];
            let by = message.cap.and_then(|cap| {
                let (thread, run) = self.store.run_at(cap, at, &mut 0)?;
                let text = format!("{} on capability {cap}", self.name(thread));
                Some(DetailField::new("called by", text).linked_to(Thread(thread), run))
            });
            facts.extend(by);
            return facts;
        }
        Vec::new()
    }
}

/// Profile samples of an OS thread.
struct Calls<'a> {
    profile: &'a Profile,
    track: &'a Track,
}

impl Calls<'_> {
    /// Returns the prefix of a stack that ends at its innermost foreign call.
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

    /// Returns whether a stack has `call` as a prefix: it is that call, or within a callback of it.
    fn is_within(&self, mut stack: StackId, call: StackId) -> bool {
        let depth = self.profile.stacks.depth(call);
        while self.profile.stacks.depth(stack) > depth {
            stack = self.profile.stacks.parent(stack);
        }
        stack == call
    }

    fn one(&self, details: &Details<'_>, span: Interval, open: bool) -> Vec<DetailField> {
        let samples = &self.track.samples;
        let places = beginning(samples, span);
        let Some((_, stack)) = samples.get(places.start) else {
            return Vec::new();
        };
        let call = self.call_of(stack);
        let whole = self.call_span(call, places.clone());
        let function = self.profile.stacks.frame(call);
        let function = function.and_then(|frame| self.profile.frames.get(frame));
        let mut facts = Vec::new();
        if let Some(function) = function {
            facts.extend(details.announced(whole.start(), &function.label));
        }
        details.duration_facts(span, &mut facts);
        if whole != span {
            let text = format!(
                "{}, {} – {}, with calls made by callbacks",
                exact_duration(whole.duration()),
                format::time(whole.start()),
                format::time(whole.end())
            );
            facts.push(DetailField::new("whole call", text));
        }
        if open {
            facts.push(DetailField::new(
                "returned",
                "not before the end of the log",
            ));
        }
        let source = self.track.source;
        facts.push(flame(sources::COST_CENTRES, source, span.middle()));
        self.inside(call, places, &mut facts);
        let caller = self.profile.stacks.parent(call);
        if caller != StackId::EMPTY {
            stack_facts(self.profile, caller, "called from", &mut facts);
        }
        facts
    }

    /// Returns the time range of a whole call, including calls made by its callbacks.
    fn call_span(&self, call: StackId, places: std::ops::Range<usize>) -> Interval {
        let samples = &self.track.samples;
        let get = |place: usize| samples.get(place);
        let first = get(places.start).map_or(Interval::default(), |(span, _)| span);
        let last = places.end.checked_sub(1).and_then(get);
        let mut whole = Interval::new(
            first.start(),
            last.map_or(first.end(), |(span, _)| span.end()),
        );
        for place in (0..places.start).rev().take(MAX_PARTS) {
            match get(place) {
                Some((span, stack))
                    if span.end() == whole.start() && self.is_within(stack, call) =>
                {
                    whole.extend(span.start());
                }
                _ => break,
            }
        }
        for place in (places.end..samples.len()).take(MAX_PARTS) {
            match get(place) {
                Some((span, stack))
                    if span.start() == whole.end() && self.is_within(stack, call) =>
                {
                    whole.extend(span.end());
                }
                _ => break,
            }
        }
        whole
    }

    /// Adds the run time of each foreign function within the call.
    fn inside(&self, call: StackId, places: std::ops::Range<usize>, facts: &mut Vec<DetailField>) {
        let mut weights: SeededMap<FrameId, u64> = SeededMap::default();
        for (span, stack) in places.filter_map(|place| self.track.samples.get(place)) {
            if stack != call
                && let Some(frame) = self.profile.stacks.frame(stack)
            {
                *weights.entry(frame).or_default() += span.duration().0;
            }
        }
        let time = format::duration_ns;
        heaviest(self.profile, weights, "inside", time, facts);
    }

    /// Returns number, total duration and functions of several calls, and the longest of them.
    fn several(&self, spans: impl Iterator<Item = Interval>, row: TrackId) -> Vec<DetailField> {
        let mut weights: SeededMap<FrameId, u64> = SeededMap::default();
        let (mut count, mut total) = (0u64, 0u64);
        let mut longest: Option<Interval> = None;
        for span in spans {
            count += 1;
            total = total.saturating_add(span.duration().0);
            if longest.is_none_or(|longest| span.duration() > longest.duration()) {
                longest = Some(span);
            }
            let stack = self
                .track
                .samples
                .get(beginning(&self.track.samples, span).start);
            let call = stack.map_or(StackId::EMPTY, |(_, stack)| self.call_of(stack));
            if let Some(frame) = self.profile.stacks.frame(call) {
                *weights.entry(frame).or_default() += span.duration().0;
            }
        }
        let Some(longest) = longest else {
            return Vec::new();
        };
        let time = format::duration_ns;
        let mut facts = vec![
            DetailField::new("calls", format::count(count)),
            DetailField::new("total time", time(total)),
            DetailField::new("longest", format::duration(longest.duration()))
                .linked_to(row, longest),
            flame(sources::COST_CENTRES, self.track.source, longest.middle()),
        ];
        heaviest(self.profile, weights, "to", time, &mut facts);
        facts
    }
}
