//! Vertical layout of the timeline: names, heights and positions of the tracks.

use crate::timeline::arrange::{Direction, Move, TrackChange};
use eventlog::hash::SeededMap;
use session::tracks::TrackId;
use session::tracks::group::TrackGroup;
use session::tracks::name::TrackName;

/// Kind of a line of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Heading of the groups of a process.
    Process,
    /// Heading of a group.
    Group(TrackGroup),
    /// Heading of the threads with one label.
    Label,
    /// Track with data.
    Track(TrackId),
}

/// Track, or heading of tracks.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// Distinguishes tracks from headings.
    pub kind: Kind,
    /// Group of the track or heading.
    pub group: TrackGroup,
    /// Index of the process, if the log has several.
    pub process: Option<usize>,
    /// Name in links and settings.
    pub name: TrackName,
    /// Displayed title.
    pub title: String,
    /// Displayed title in a narrow window.
    pub short_title: String,
    /// Short note right of the name; may be empty.
    pub note: String,
    /// Series of a gauge that have no key because the log has no data of them.
    pub missing_series: Vec<u8>,
    /// For headings: whether the contents are folded.
    pub folded: bool,
    /// Whether the track is pinned at the top.
    pub pinned: bool,
    /// Whether the track is one of those that the selected range is limited to.
    pub selected: bool,
}

impl Kind {
    /// Returns the group of a track or heading.
    const fn group(self) -> TrackGroup {
        match self {
            Self::Group(group) => group,
            Self::Process => TrackGroup::Capabilities,
            Self::Label => TrackGroup::Threads,
            Self::Track(row) => row.group(),
        }
    }
}

impl Track {
    /// Creates a track or heading of a log with a single process, without a note.
    pub(crate) fn new(kind: Kind, name: TrackName, title: &str) -> Self {
        Self {
            kind,
            group: kind.group(),
            process: None,
            name,
            title: title.to_owned(),
            short_title: title.to_owned(),
            note: String::new(),
            missing_series: Vec::new(),
            folded: false,
            pinned: false,
            selected: false,
        }
    }

    /// Returns the row of the track; `None` for headings.
    pub const fn row(&self) -> Option<TrackId> {
        match self.kind {
            Kind::Track(row) => Some(row),
            Kind::Process | Kind::Group(_) | Kind::Label => None,
        }
    }

    /// Returns the height in pixels.
    pub const fn height(&self) -> f64 {
        match self.kind {
            Kind::Process => 26.0,
            Kind::Group(_) => 24.0,
            Kind::Label => 22.0,
            Kind::Track(row) => row.height_px(),
        }
    }
}

/// Tracks with their vertical positions. Pinned tracks come first and stay at the top; the others scroll beneath
/// them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    tracks: Vec<Track>,
    /// Top of each track relative to the first, and the bottom of the last, in pixels.
    tops: Vec<f64>,
    pinned: usize,
    /// Index of the track that shows each row.
    indices: SeededMap<TrackId, usize>,
    /// Whether the selected range is limited to some tracks.
    limited: bool,
}

impl Layout {
    /// Lays out `tracks`, of which the pinned ones must come first.
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
            indices: places.collect(),
            limited: tracks.iter().any(|track| track.selected),
            tracks,
            tops,
            pinned,
        }
    }

    /// Returns all tracks, pinned ones first.
    pub fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// Returns the total height of the pinned tracks, in pixels.
    pub fn pinned_px(&self) -> f64 {
        self.tops.get(self.pinned).copied().unwrap_or_default()
    }

    /// Returns the total height of all tracks, in pixels.
    pub fn height(&self) -> f64 {
        self.tops.last().copied().unwrap_or_default()
    }

    /// Returns the top of a track within the track area at a scroll offset, in pixels.
    pub fn y(&self, index: usize, scroll_px: f64) -> f64 {
        let top = self.tops.get(index).copied().unwrap_or_default();
        if index < self.pinned {
            top
        } else {
            top - scroll_px
        }
    }

    /// Returns the index of the track at `y` in the track area.
    pub fn track_at(&self, y: f64, scroll_px: f64) -> Option<usize> {
        let y = if y < self.pinned_px() {
            y
        } else {
            y + scroll_px
        };
        let after = self.tops.partition_point(|&top| top <= y);
        let index = after.checked_sub(1)?;
        (index < self.tracks.len()).then_some(index)
    }

    /// Returns the indices of the visible tracks at a scroll offset in an area of this height: first the scrolling
    /// tracks, then the pinned ones painted over them.
    pub fn visible_tracks(
        &self,
        scroll_px: f64,
        height: f64,
    ) -> impl Iterator<Item = usize> + use<> {
        let (from, to) = (scroll_px + self.pinned_px(), scroll_px + height);
        let first = self.tops.partition_point(|&top| top <= from);
        let last = self.tops.partition_point(|&top| top < to);
        let first = first.saturating_sub(1).max(self.pinned);
        let last = last.min(self.tracks.len()).max(first);
        (first..last).chain(0..self.pinned)
    }

    /// Returns the index of the track that shows a row.
    pub fn find(&self, row: TrackId) -> Option<usize> {
        self.indices.get(&row).copied()
    }

    /// Returns the number of pinned tracks.
    pub const fn pinned(&self) -> usize {
        self.pinned
    }

    /// Returns whether the selected range is limited to some tracks.
    pub(crate) const fn is_limited(&self) -> bool {
        self.limited
    }

    /// Returns the tracks, in order, among which a track can be moved: those of its group, or the other pinned
    /// ones; for a group, the other groups.
    fn siblings(&self, name: &TrackName) -> Vec<&Track> {
        let find = |track: &&Track| track.name == *name;
        let Some(track) = self.tracks.iter().find(find) else {
            return Vec::new();
        };
        let alike = |other: &&Track| match (track.kind, other.kind) {
            (Kind::Group(_), Kind::Group(_)) => track.process == other.process,
            (Kind::Track(_), Kind::Track(_)) if track.pinned => other.pinned,
            (Kind::Track(_), Kind::Track(_)) => {
                !other.pinned && (track.group, track.process) == (other.group, other.process)
            }
            _ => false,
        };
        self.tracks.iter().filter(alike).collect()
    }

    /// Returns whether a track can be dropped on the track at `index`.
    pub fn may_follow(&self, name: &TrackName, index: usize) -> bool {
        let Some(target) = self.tracks.get(index) else {
            return false;
        };
        target.name != *name
            && self
                .siblings(name)
                .iter()
                .any(|track| track.name == target.name)
    }

    /// Returns the move for dropping a track on the one at `index`: dragged upward it is placed before that one,
    /// dragged downward after it.
    pub fn drop_at(&self, name: TrackName, index: usize) -> TrackChange {
        let siblings = self.siblings(&name);
        let place = |wanted: &TrackName| siblings.iter().position(|track| track.name == *wanted);
        let target = self.tracks.get(index).and_then(|track| place(&track.name));
        let (from, target) = (place(&name).unwrap_or(0), target.unwrap_or(0));
        let after = if target >= from {
            Some(target)
        } else {
            target.checked_sub(1)
        };
        let after = after.and_then(|after| siblings.get(after));
        let after = after.map(|track| track.name.clone());
        TrackChange::Move(Move { name, after })
    }

    /// Returns the move of a track by one position; `None` if it is first or last already.
    pub(crate) fn shifted(&self, name: &TrackName, direction: Direction) -> Option<Move> {
        let siblings = self.siblings(name);
        let at = siblings.iter().position(|track| track.name == *name)?;
        let after = match direction {
            Direction::Down => Some(siblings.get(at + 1)?),
            Direction::Up if at == 0 => return None,
            Direction::Up => at.checked_sub(2).and_then(|before| siblings.get(before)),
        };
        Some(Move {
            name: name.clone(),
            after: after.map(|track| track.name.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::ids::CapId;
    use session::tracks::capability::Capability;

    fn track(cap: u16, pinned: bool) -> Track {
        let (kind, name) = (
            Kind::Track(Capability(CapId(cap)).into()),
            TrackName::capability(CapId(cap)),
        );
        Track {
            pinned,
            ..Track::new(kind, name, "")
        }
    }

    #[test]
    fn pinned_tracks_stay_while_others_scroll() {
        let tracks = (0..10).map(|cap| track(cap, cap < 2)).collect();
        let layout = Layout::new(tracks);
        assert_eq!((layout.pinned_px(), layout.height()), (60.0, 300.0));
        assert_eq!((layout.y(1, 90.0), layout.y(5, 90.0)), (30.0, 60.0));
        let at = |y, scroll_px| layout.track_at(y, scroll_px);
        assert_eq!((at(0.0, 90.0), at(59.0, 90.0)), (Some(0), Some(1)));
        assert_eq!((at(60.0, 90.0), at(60.0, 0.0)), (Some(5), Some(2)));
        assert_eq!((at(240.0, 60.0), at(-1.0, 0.0)), (None, None));
        let seen: Vec<usize> = layout.visible_tracks(45.0, 120.0).collect();
        assert_eq!(seen, [3, 4, 5, 0, 1]);
        assert_eq!(Layout::default().visible_tracks(0.0, 100.0).count(), 0);
        assert_eq!(Layout::default().track_at(5.0, 0.0), None);
    }
}
