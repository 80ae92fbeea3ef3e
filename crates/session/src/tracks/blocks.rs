//! Block tracks: the buffers in which a capability, or no capability, wrote its events.

use serde::{Deserialize, Serialize};

use super::details::{DetailField, DetailsQuery};
use super::legend::{FROM, LegendEntry, LegendMark, LegendSample, Section, TO};
use super::{Log, LogContents, Shape, TrackEntry, TrackKind, lane, link};
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names};
use crate::tracks::words::{duration, when};
use analysis::timeline::block_lanes::size;
use eventlog::ids::CapId;
use model::class::Class;
use model::marks::{MarkKind, MarkView, MarkWriter, PackedPayload, Payload};
use scene::format;
use scene::strip::Bar;

/// Blocks of a capability, or of none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Blocks(pub Option<CapId>);

/// Size of a block in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block(pub u32);

impl Payload for Block {
    fn pack(self) -> PackedPayload {
        PackedPayload([self.0, 0, 0, 0])
    }

    fn unpack(packed: PackedPayload) -> Self {
        Self(packed.word(0))
    }
}

impl TrackKind for Blocks {
    type Payload = Block;

    const GROUP: TrackGroup = TrackGroup::Blocks;
    const SHAPE: Shape = Shape::Lane;
    const SECTION: Section = Section::Spans;

    fn link(self, _: &LogContents) -> String {
        // `blocks` alone is the name of the group.
        let cap = self
            .0
            .map_or_else(|| "none".to_owned(), |cap| cap.to_string());
        format!("blocks{cap}")
    }

    fn parse(link: &str, _: &LogContents) -> Option<Self> {
        let of_cap = link::cap(link, "blocks").map(|cap| Self(Some(cap)));
        of_cap.or((link == "blocksnone").then_some(Self(None)))
    }

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let listed = |cap: Option<CapId>| match cap {
            Some(cap) => TrackEntry::new(Self(Some(cap)), format!("Blocks of capability {cap}"))
                .short(format!("Cap {cap}")),
            None => TrackEntry::new(Self(None), "Blocks of no capability").short("None"),
        };
        let caps = log.recording.tracks.blocks.caps();
        caps.into_iter().map(listed)
    }

    fn cap(self) -> Option<CapId> {
        self.0
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        if let Some(lane) = log.recording.tracks.blocks.lane(self.0) {
            writer.lane(lane, |i| Block(lane.get(i).map_or(0, |piece| piece.detail)));
        }
    }

    fn bar(mark: &MarkView<'_>, _: &dyn Names) -> Bar {
        Bar::text(format::bytes(mark.read::<Block>().0.into()))
    }

    fn describe(self, item: &Item, _: &dyn Names) -> (String, String) {
        let name = match self.0 {
            Some(cap) => format!("Block of capability {cap}"),
            None => "Block of no capability".to_owned(),
        };
        if item.kind == MarkKind::Many {
            return (name, lane::several(item, "blocks"));
        }
        let size = format::bytes(item.read::<Block>().0.into());
        let (duration, when) = (duration(item), when(item));
        let text = format!("{size}, written {duration} after it was begun · {when}");
        (name, text)
    }

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        let cap = self.0;
        let sections = &log.blocks.sections;
        let mut blocks = sections.iter().flat_map(|section| section.blocks.iter());
        if query.many {
            let inside = blocks.filter(|block| {
                block.cap == cap
                    && query.span.start() <= block.begin_time
                    && block.begin_time < query.span.end()
            });
            let (mut count, mut bytes) = (0u64, 0u64);
            for block in inside {
                count += 1;
                bytes = bytes.saturating_add(size(&block));
            }
            return vec![
                DetailField::new("blocks", format::count(count)),
                DetailField::new("total size", format::bytes(bytes)),
            ];
        }
        // A block that overlaps the previous one is drawn from the end of that one.
        let found = blocks.find(|block| {
            block.cap == cap
                && block.begin_time <= query.span.start()
                && block.end_time == query.span.end()
        });
        let Some(block) = found else {
            return Vec::new();
        };
        let whose = cap.map_or("none".to_owned(), |cap| cap.to_string());
        let waited = format::duration(block.end_time.since(block.begin_time));
        vec![
            DetailField::new("capability", whose),
            DetailField::new("at byte", format::count(block.start.0)),
            DetailField::new("size", format::bytes(size(&block))),
            DetailField::new("the oldest event waited", waited),
        ]
    }

    fn legend() -> Vec<LegendEntry> {
        let mark = LegendMark::span(Class::Other, FROM, TO).with_payload(Block(8192));
        vec![LegendEntry::new(
            "A block of the log",
            "A buffer of events of this size, from its start until it was written.",
            LegendSample::row(Self(Some(CapId(0))), vec![mark]),
        )]
    }
}
