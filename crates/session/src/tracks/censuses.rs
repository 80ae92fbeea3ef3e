//! Census tracks: the times at which the heap was counted for a profile.

use serde::{Deserialize, Serialize};

use super::collections::Collections;
use super::details::{DetailField, DetailsQuery, MAX_LISTED, more};
use super::legend::{LegendEntry, LegendMark, LegendSample, MIDDLE, Section};
use super::moments::add_by_column;
use super::{Log, LogContents, Shape, TrackEntry, TrackKind, link};
use crate::census_cost;
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Names, PaintInput};
use crate::tracks::words::{density, when};
use analysis::heap::HeapProfile;
use model::class::Class;
use model::density::Density;
use model::marks::{MarkKind, MarkWriter, PackedPayload, Payload, split_u64};
use model::time::Interval;
use scene::format;
use scene::painter::{Painter, Rect};
use scene::strip::Column;

/// Censuses of a profile, by its index in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Censuses(pub u32);

/// One census, or the first of several at one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Census {
    /// Index in the profile.
    pub place: u32,
    /// Total bytes of the census.
    pub bytes: u64,
}

impl Payload for Census {
    fn pack(self) -> PackedPayload {
        let [high, low] = split_u64(self.bytes);
        PackedPayload([self.place, high, low, 0])
    }

    fn unpack(packed: PackedPayload) -> Self {
        Self {
            place: packed.word(0),
            bytes: packed.u64_at(1),
        }
    }
}

/// Returns the display number, which begins at 1.
fn number(place: u32) -> String {
    format::count(u64::from(place) + 1)
}

impl TrackKind for Censuses {
    type Payload = Census;

    const GROUP: TrackGroup = TrackGroup::Heap;
    const SHAPE: Shape = Shape::Moments;
    const SECTION: Section = Section::Collections;

    /// The name of the first profile's track has no number.
    fn link(self, _: &LogContents) -> String {
        match self.0 {
            0 => "censuses".to_owned(),
            place => format!("censuses{}", u64::from(place) + 1),
        }
    }

    fn parse(link: &str, _: &LogContents) -> Option<Self> {
        if link == "censuses" {
            return Some(Self(0));
        }
        let place = link::number::<u64>(link, "censuses")?.checked_sub(1)?;
        let place = u32::try_from(place).ok().filter(|place| *place > 0)?;
        Some(Self(place))
    }

    /// Lists a track for each profile with times.
    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let profiles = (0..).zip(log.recording.heap().iter());
        let timed = profiles.filter(|(_, profile)| profile.is_timed());
        let listed = |(place, profile): (u32, &HeapProfile)| {
            let title = match place {
                0 => "Censuses".to_owned(),
                _ => format!("Censuses, profile {}", number(place)),
            };
            let count = profile.censuses.len() as u64;
            TrackEntry::new(Self(place), title).note(format::count(count))
        };
        timed.map(listed)
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let Some(profile) = self.profile(log) else {
            return;
        };
        let times = profile.censuses.times();
        let mut found = Density::new(writer);
        let census = |place: usize| Census {
            place: place as u32,
            bytes: profile.censuses.total(place as u32),
        };
        add_by_column(&mut found, times.len(), |place| times[place].0, census);
        found.write(writer, |first, _| first);
    }

    /// Paints a line with a square on it; dense censuses become columns.
    fn paint(self, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
        let strip = &shown.strip;
        let color = strip.palette.gc_sync;
        let middle = strip.area.y + strip.area.h / 2.0;
        let mut columns = Vec::new();
        for (mark, span) in shown.marks.row_marks(self) {
            if mark.kind == MarkKind::Column {
                columns.push(Column {
                    span,
                    count: mark.count,
                    color,
                    notable: None,
                });
                continue;
            }
            let x = strip.x(span.start());
            painter.fill(strip.tick(span.start()), color.into());
            painter.fill(Rect::new(x - 3.0, middle - 3.5, 6.0, 6.0), color.into());
        }
        strip.paint_density(&columns, painter);
    }

    fn describe(self, item: &Item, _: &dyn Names) -> (String, String) {
        let Census { place, bytes } = item.read();
        let first = number(place);
        match item.count {
            1 => (
                format!("Census {first}"),
                format!(
                    "{} on the heap · {}",
                    format::bytes(bytes),
                    format::time(item.span.start())
                ),
            ),
            count => {
                let last = number(place.saturating_add(count - 1));
                let text = match item.kind {
                    MarkKind::Column => density(item, "censuses"),
                    _ => when(item),
                };
                (format!("Censuses {first} to {last}"), text)
            }
        }
    }

    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        let Some(profile) = self.profile(log) else {
            return Vec::new();
        };
        let times = profile.censuses.times();
        let (from, to) = (query.span.start(), query.span.end());
        let first = times.partition_point(|&time| time < from);
        let last = times.partition_point(|&time| time <= to).max(first);
        if last - first == 1 {
            return one(log, profile, first as u32);
        }
        let listed = (first..last).take(MAX_LISTED);
        let mut facts: Vec<DetailField> = listed
            .filter_map(|place| self.listed(profile, place as u32))
            .collect();
        facts.extend(more((last - first).saturating_sub(MAX_LISTED)));
        facts
    }

    fn class_of(self, _: &Item) -> Option<Class> {
        Some(Class::Census)
    }

    fn legend() -> Vec<LegendEntry> {
        let census = Census { place: 0, bytes: 0 };
        vec![LegendEntry::new(
            "A census of the heap",
            "The program was paused for a census of a heap profile.",
            LegendSample::row(
                Self(0),
                vec![LegendMark::moment(MIDDLE).with_payload(census)],
            ),
        )]
    }
}

impl Censuses {
    fn profile<'a>(self, log: &Log<'a>) -> Option<&'a HeapProfile> {
        log.recording.heap().get(self.0 as usize)
    }

    /// Returns a fact about one of several censuses, with a link to it.
    fn listed(self, profile: &HeapProfile, place: u32) -> Option<DetailField> {
        let at = profile.time(place)?;
        let total = profile.censuses.totals().get(place as usize)?;
        let text = format!("{} at {}", format::bytes(*total), format::time(at));
        let fact = DetailField::new(format!("census {}", number(place)), text);
        Some(fact.linked_to(self, Interval::empty_at(at)))
    }
}

/// Returns the details of one census.
fn one(log: &Log<'_>, profile: &HeapProfile, place: u32) -> Vec<DetailField> {
    let censuses = &profile.censuses;
    let of = format::count(censuses.len() as u64);
    let mut facts = vec![DetailField::new(
        "census",
        format!("{} of {of}", number(place)),
    )];
    if let Some(total) = censuses.totals().get(place as usize) {
        facts.push(DetailField::new("on the heap", format::bytes(*total)));
    }
    let held = profile
        .bands()
        .filter(|band| censuses.bytes_at(*band, place) > 0);
    let bands = format::pluralize(held.count() as u64, "band");
    let what = profile.kind.breakdown.what();
    facts.push(DetailField::new("in", format!("{bands}, by {what}")));
    // The era is always 0 in programs that do not count eras.
    if let Some(era) = profile.era(place).filter(|era| *era > 0) {
        facts.push(DetailField::new("era", format::count(era)));
    }
    let pause = profile
        .time(place)
        .and_then(|at| log.recording.census_pause(at));
    facts.push(match pause {
        Some(pause) => DetailField::new("stopped the program for", census_cost::pause(&pause))
            .linked_to(Collections, pause.collection),
        None => DetailField::new(
            "stopped the program for",
            "not in the log: it has no collection at that time",
        ),
    });
    facts
}
