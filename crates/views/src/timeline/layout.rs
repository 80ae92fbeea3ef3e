//! The tracks of the timeline: what each is called, how high it is, and where
//! it stands.

use crate::timeline::arrange::{Direction, Move, TrackChange};
use eventlog::hash::SeededMap;
use session::tracks::Row;
use session::tracks::group::Group;
use session::tracks::name::TrackName;

/// What a line of the timeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The heading of the groups of a process.
    Process,
    /// The heading of a group.
    Group(Group),
    /// The heading of the threads with one label.
    Label,
    /// A track.
    Row(Row),
}

/// A track, or the heading of some.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// What it is.
    pub kind: Kind,
    /// The group that it stands in, or is the heading of.
    pub group: Group,
    /// The place of the process whose it is, if the log is of several.
    pub process: Option<usize>,
    /// Its name in links and settings.
    pub id: TrackName,
    /// Its name.
    pub name: String,
    /// Its name in a narrow window.
    pub short: String,
    /// A short note at the right of the name.
    pub note: String,
    /// The series of a gauge that have no key, as the log has nothing of them.
    pub lacks: Vec<u8>,
    /// Headings: whether what belongs to it is folded away.
    pub folded: bool,
    /// Whether it stays at the top.
    pub pinned: bool,
    /// Whether the selected range is limited to some tracks, this one among them.
    pub selected: bool,
}

impl Track {
    /// The row that it shows; headings have none.
    #[must_use]
    pub const fn row(&self) -> Option<Row> {
        match self.kind {
            Kind::Row(row) => Some(row),
            Kind::Process | Kind::Group(_) | Kind::Label => None,
        }
    }

    /// Its height in pixels.
    #[must_use]
    pub const fn height(&self) -> f64 {
        match self.kind {
            Kind::Process => 26.0,
            Kind::Group(_) => 24.0,
            Kind::Label => 22.0,
            Kind::Row(row) => row.height_px(),
        }
    }
}

/// The tracks with their places. Those that are pinned come first and stay at
/// the top; the others scroll beneath them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    tracks: Vec<Track>,
    /// Where each begins, from the top of the first; one more for the end.
    tops: Vec<f64>,
    pinned: usize,
    /// Which of them shows a row.
    places: SeededMap<Row, usize>,
    /// Whether the selected range is limited to some tracks.
    limited: bool,
}

impl Layout {
    /// Places `tracks`, of which the pinned ones have to come first.
    #[must_use]
    pub fn new(tracks: Vec<Track>) -> Self {
        let mut tops = Vec::with_capacity(tracks.len() + 1);
        let mut top = 0.0;
        for track in &tracks {
            tops.push(top);
            top += track.height();
        }
        tops.push(top);
        let pinned = tracks.iter().take_while(|track| track.pinned).count();
        let rows = tracks.iter().enumerate();
        let places = rows.filter_map(|(index, track)| Some((track.row()?, index)));
        Self {
            places: places.collect(),
            limited: tracks.iter().any(|track| track.selected),
            tracks,
            tops,
            pinned,
        }
    }

    /// All of them.
    #[must_use]
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// How high the pinned ones are.
    #[must_use]
    pub fn pinned_px(&self) -> f64 {
        self.tops.get(self.pinned).copied().unwrap_or_default()
    }

    /// How high all are.
    #[must_use]
    pub fn height(&self) -> f64 {
        self.tops.last().copied().unwrap_or_default()
    }

    /// Where a track begins, from the top of the area of tracks, when they
    /// are scrolled so far.
    #[must_use]
    pub fn y(&self, index: usize, scroll_px: f64) -> f64 {
        let top = self.tops.get(index).copied().unwrap_or_default();
        if index < self.pinned {
            top
        } else {
            top - scroll_px
        }
    }

    /// The track at a height of that area.
    #[must_use]
    pub fn at(&self, y: f64, scroll_px: f64) -> Option<usize> {
        let y = if y < self.pinned_px() {
            y
        } else {
            y + scroll_px
        };
        let after = self.tops.partition_point(|&top| top <= y);
        let index = after.checked_sub(1)?;
        (index < self.tracks.len()).then_some(index)
    }

    /// The tracks that are seen, scrolled so far, in an area of that height:
    /// first those that scroll, then the pinned ones over them.
    pub fn seen(&self, scroll_px: f64, height: f64) -> impl Iterator<Item = usize> + use<> {
        let (from, to) = (scroll_px + self.pinned_px(), scroll_px + height);
        let first = self.tops.partition_point(|&top| top <= from);
        let last = self.tops.partition_point(|&top| top < to);
        let first = first.saturating_sub(1).max(self.pinned);
        let last = last.min(self.tracks.len()).max(first);
        (first..last).chain(0..self.pinned)
    }

    /// The place of a row.
    #[must_use]
    pub fn find(&self, row: Row) -> Option<usize> {
        self.places.get(&row).copied()
    }

    /// How many are pinned.
    #[must_use]
    pub const fn pinned(&self) -> usize {
        self.pinned
    }

    /// Whether the selected range is limited to some tracks.
    #[must_use]
    pub(crate) const fn is_limited(&self) -> bool {
        self.limited
    }

    /// The tracks beside which a track can stand: those of its group, or the
    /// other pinned ones; for a group the other groups. In their order.
    fn siblings(&self, name: &TrackName) -> Vec<&Track> {
        let find = |track: &&Track| track.id == *name;
        let Some(track) = self.tracks.iter().find(find) else {
            return Vec::new();
        };
        let alike = |other: &&Track| match (track.kind, other.kind) {
            (Kind::Group(_), Kind::Group(_)) => track.process == other.process,
            (Kind::Row(_), Kind::Row(_)) if track.pinned => other.pinned,
            (Kind::Row(_), Kind::Row(_)) => {
                !other.pinned && (track.group, track.process) == (other.group, other.process)
            }
            _ => false,
        };
        self.tracks.iter().filter(alike).collect()
    }

    /// Whether a track can be dropped on that one.
    #[must_use]
    pub fn may_follow(&self, name: &TrackName, index: usize) -> bool {
        let Some(target) = self.tracks.get(index) else {
            return false;
        };
        target.id != *name
            && self
                .siblings(name)
                .iter()
                .any(|track| track.id == target.id)
    }

    /// What dropping a track on that one means: from below it comes before
    /// it, from above behind it.
    #[must_use]
    pub fn drop_at(&self, name: TrackName, index: usize) -> TrackChange {
        let siblings = self.siblings(&name);
        let place = |wanted: &TrackName| siblings.iter().position(|track| track.id == *wanted);
        let target = self.tracks.get(index).and_then(|track| place(&track.id));
        let (from, target) = (place(&name).unwrap_or(0), target.unwrap_or(0));
        let after = if target >= from {
            Some(target)
        } else {
            target.checked_sub(1)
        };
        let after = after.and_then(|after| siblings.get(after));
        let after = after.map(|track| track.id.clone());
        TrackChange::Move(Move { name, after })
    }

    /// The move of a track one place up or down; `None` at the end.
    #[must_use]
    pub(crate) fn shifted(&self, name: &TrackName, direction: Direction) -> Option<Move> {
        let siblings = self.siblings(name);
        let at = siblings.iter().position(|track| track.id == *name)?;
        let after = match direction {
            Direction::Down => Some(siblings.get(at + 1)?),
            Direction::Up if at == 0 => return None,
            Direction::Up => at.checked_sub(2).and_then(|before| siblings.get(before)),
        };
        Some(Move {
            name: name.clone(),
            after: after.map(|track| track.id.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::ids::CapId;
    use session::tracks::capability::Capability;

    fn track(cap: u16, pinned: bool) -> Track {
        Track {
            kind: Kind::Row(Capability(CapId(cap)).into()),
            group: Group::Capabilities,
            process: None,
            id: TrackName::capability(CapId(cap)),
            name: String::new(),
            short: String::new(),
            note: String::new(),
            lacks: Vec::new(),
            folded: false,
            pinned,
            selected: false,
        }
    }

    #[test]
    fn pinned_tracks_stay_while_others_scroll() {
        let tracks = (0..10).map(|cap| track(cap, cap < 2)).collect();
        let layout = Layout::new(tracks);
        assert_eq!((layout.pinned_px(), layout.height()), (60.0, 300.0));
        assert_eq!((layout.y(1, 90.0), layout.y(5, 90.0)), (30.0, 60.0));
        let at = |y, scroll_px| layout.at(y, scroll_px);
        assert_eq!((at(0.0, 90.0), at(59.0, 90.0)), (Some(0), Some(1)));
        assert_eq!((at(60.0, 90.0), at(60.0, 0.0)), (Some(5), Some(2)));
        assert_eq!((at(240.0, 60.0), at(-1.0, 0.0)), (None, None));
        let seen: Vec<usize> = layout.seen(45.0, 120.0).collect();
        assert_eq!(seen, [3, 4, 5, 0, 1]);
        assert_eq!(Layout::default().seen(0.0, 100.0).count(), 0);
        assert_eq!(Layout::default().at(5.0, 0.0), None);
    }
}
