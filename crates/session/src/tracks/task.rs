//! Task tracks: OS threads of the runtime, and the capability that each is on.

use serde::{Deserialize, Serialize};

use super::capability::Capability;
use super::details::{DetailField, DetailsQuery};
use super::lane::{self, SpanPayload};
use super::legend::{FROM, LegendEntry, LegendMark, LegendSample, Section, TO};
use super::{Log, Shape, TrackEntry, TrackKind, link};
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names};
use crate::tracks::words::{duration, when};
use analysis::timeline::tasks::OPEN;
use eventlog::ids::{CapId, OsThreadId, TaskId};
use model::class::Class;
use model::marks::{MarkKind, MarkView, MarkWriter};
use scene::format;
use scene::strip::Bar;

/// Track of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Task(pub TaskId);

/// Returns the capability that the detail of a span names.
const fn cap_of(detail: u32) -> CapId {
    CapId(detail as u16)
}

impl TrackKind for Task {
    /// The detail is the capability.
    type Payload = SpanPayload;

    const GROUP: TrackGroup = TrackGroup::Tasks;
    const SHAPE: Shape = Shape::Lane;
    const SECTION: Section = Section::Spans;

    link::number_link!("task", |task| Self(TaskId(task)));

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let listed = |(number, (task, os_thread)): (usize, (TaskId, Option<OsThreadId>))| {
            let note = os_thread.map_or_else(String::new, |thread| format!("OS {thread}"));
            TrackEntry::new(Self(task), format!("Task {number}")).note(note)
        };
        (1..).zip(log.recording.tracks.tasks.all()).map(listed)
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        if let Some(lane) = log.recording.tracks.tasks.lane(self.0) {
            writer.lane(lane, |i| SpanPayload::new(lane, i));
        }
    }

    fn bar(mark: &MarkView<'_>, _: &dyn Names) -> Bar {
        let SpanPayload { detail, .. } = mark.read();
        Bar::text(format!("cap {}", cap_of(detail)))
    }

    fn describe(self, item: &Item, _: &dyn Names) -> (String, String) {
        let name = "Task".to_owned();
        if item.kind == MarkKind::Many {
            return (name, lane::several(item, "stays on capabilities"));
        }
        let SpanPayload { detail, open } = item.read();
        let cap = cap_of(detail);
        let (duration, when) = (duration(item), when(item));
        let open = if open { ", until the log ended" } else { "" };
        let text = format!("was on capability {cap} for {duration}{open} · {when}");
        (name, text)
    }

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        let tasks = &log.recording.tracks.tasks;
        let Some(pieces) = tasks.lane(self.0) else {
            return Vec::new();
        };
        let mut facts = vec![DetailField::new("task", format!("{:#x}", self.0.0))];
        let os_thread = tasks.os_thread(self.0);
        facts.extend(os_thread.map(|thread| DetailField::new("OS thread", thread.to_string())));
        if query.many {
            facts.extend(lane::sums(pieces, query, "stays on capabilities"));
        } else if let Some(piece) = pieces.within(query.span).next() {
            let span = lane::span_of(piece);
            let cap = CapId(u16::try_from(piece.detail).unwrap_or(u16::MAX));
            let since = DetailField::new("on", format!("capability {cap}"));
            facts.push(since.linked_to(Capability(cap), span));
            facts.push(DetailField::new("since", format::time(span.start())));
            if piece.code == OPEN {
                facts.push(DetailField::new("until", "the log ended"));
            }
        }
        facts
    }

    fn legend() -> Vec<LegendEntry> {
        let stay = SpanPayload {
            detail: 0,
            open: false,
        };
        let mark = LegendMark::span(Class::Other, FROM, TO).with_payload(stay);
        vec![LegendEntry::new(
            "A task on a capability",
            "An OS thread of the runtime held this capability, or requested it.",
            LegendSample::row(Self(TaskId(1)), vec![mark]),
        )]
    }
}
