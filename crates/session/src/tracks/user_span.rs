//! User span tracks: spans that the program announced by messages, one track per name.

use serde::{Deserialize, Serialize};

use super::capability::Capability;
use super::details::{DetailField, DetailsQuery};
use super::lane::{self, SpanPayload};
use super::legend::{FROM, LegendEntry, LegendMark, LegendSample, Section, TO, buckets};
use super::sample_data::wave;
use super::thread::Thread;
use super::{Log, LogContents, Shape, TrackEntry, TrackKind};
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names};
use crate::tracks::words::{duration, thread_name, when};
use analysis::timeline::user_spans::ListedSpans;
use model::class::Class;
use model::marks::{MarkKind, MarkView, MarkWriter};
use model::time::Interval;
use scene::format;
use scene::strip::Bar;

/// Spans with one name, by its index in the list of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UserSpan(pub u32);

/// Maximum length of a span name in links, in bytes.
const MAX_NAME: usize = 58;

impl TrackKind for UserSpan {
    /// The detail is the number of starts merged into the span.
    type Payload = SpanPayload;

    const GROUP: TrackGroup = TrackGroup::Spans;
    const SHAPE: Shape = Shape::Lane;
    const SECTION: Section = Section::Spans;

    fn link(self, contents: &LogContents) -> String {
        let name = contents.find(self.into()).map_or("", |track| &track.title);
        let end = name.floor_char_boundary(MAX_NAME);
        format!("span:{}", &name[..end])
    }

    fn parse(link: &str, contents: &LogContents) -> Option<Self> {
        link.starts_with("span:").then_some(())?;
        let mut spans = contents.entries_of_kind::<Self>().map(|(span, _)| span);
        spans.find(|span| span.link(contents) == link)
    }

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let listed = |(number, spans): (u32, &ListedSpans)| {
            let count = format::count(spans.calls().len() as u64);
            TrackEntry::new(Self(number), &*spans.info.name).note(format!("× {count}"))
        };
        let names = log.recording.tracks.spans.listed();
        (0..).zip(names).map(listed)
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        if let Some(spans) = log.recording.tracks.spans.get(self.0) {
            writer.lane(&spans.lane, |i| SpanPayload::new(&spans.lane, i));
        }
    }

    fn bar(mark: &MarkView<'_>, _: &dyn Names) -> Bar {
        lane::by_duration(mark).open(mark.read::<SpanPayload>().open)
    }

    fn name_in_sentence(self, title: &str) -> String {
        format!("span {title}")
    }

    fn describe(self, item: &Item, names: &dyn Names) -> (String, String) {
        let name = names.title(self.into()).unwrap_or("Span").to_owned();
        if item.kind == MarkKind::Many {
            return (name, lane::several(item, "spans"));
        }
        let SpanPayload {
            detail: starts,
            open,
        } = item.read();
        let (duration, when) = (duration(item), when(item));
        let open = lane::unfinished(open);
        let starts = match starts {
            2.. => format!(", started {starts} times"),
            _ => String::new(),
        };
        (name, format!("lasted {duration}{starts}{open} · {when}"))
    }

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        let Some(name) = log.recording.tracks.spans.get(self.0) else {
            return Vec::new();
        };
        let mut facts = vec![DetailField::new("name", &name.info.name)];
        let from = query.span.start().0;
        let place = name.spans.partition_point(|span| span.start < from);
        if query.many {
            let to = query.span.end().0;
            let until = name.spans.partition_point(|span| span.start < to);
            let spans = name.spans.get(place..until).unwrap_or_default();
            let total = spans.iter().map(|span| span.end - span.start).sum();
            facts.push(DetailField::new("spans", format::count(spans.len() as u64)));
            facts.push(DetailField::new("total time", format::duration_ns(total)));
        } else if let Some(span) = name.spans.get(place) {
            facts.extend(message_place(log, "started", span.first));
            match span.last {
                Some(last) => facts.extend(message_place(log, "stopped", last)),
                None => facts.push(DetailField::new("stopped", "not before the end of the log")),
            }
            if span.starts > 1 {
                let starts = format!("{} of this name at once or nested", span.starts);
                facts.push(DetailField::new("starts", starts));
            }
        }
        let count = format::pluralize(name.calls().len() as u64, "time");
        let total = format::duration_ns(name.info.total_ns);
        facts.push(DetailField::new(
            "all of this name",
            format!("{count}, {total} in all"),
        ));
        if name.unmatched_stops > 0 {
            let strays = format::count(name.unmatched_stops);
            facts.push(DetailField::new("stops without a start", strays));
        }
        facts
    }

    fn legend() -> Vec<LegendEntry> {
        let one = |open| {
            let mark = LegendMark::span(Class::Other, FROM, TO);
            let mark = mark.with_payload(SpanPayload { detail: 1, open });
            LegendSample::row(Self(0), vec![mark])
        };
        let several = buckets(|place| vec![(Class::Other, wave(place, 0.9))]);
        vec![
            LegendEntry::new(
                "A span of the program",
                "From a message such as “START load” to “STOP load”, with its duration. The menu Tracks sets these prefixes.",
                one(false),
            ),
            LegendEntry::new(
                "An unfinished span",
                "The log ended before its end.",
                one(true),
            ),
            LegendEntry::new(
                "Several spans in a pixel",
                "Bar height: their share of the time, as for tasks and blocks.",
                LegendSample::row(Self(0), several),
            ),
        ]
    }
}

/// Returns the capability of a message, and the thread that ran there.
fn message_place(log: &Log<'_>, label: &str, number: usize) -> Option<DetailField> {
    let message = log.recording.messages.get(number)?;
    let at = Interval::new(message.time, message.time);
    let Some(cap) = message.cap else {
        return Some(DetailField::new(label, "on no capability"));
    };
    let store = &log.recording.store;
    let Some(thread) = store.running(cap, message.time, &mut 0) else {
        let fact = DetailField::new(label, format!("on capability {cap}"));
        return Some(fact.linked_to(Capability(cap), at));
    };
    let name = thread_name(store, thread);
    let fact = DetailField::new(label, format!("on capability {cap} by {name}"));
    Some(fact.linked_to(Thread(thread), at))
}
