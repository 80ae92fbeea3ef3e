//! Arrangement of the tracks of a log according to the user's order, folding and filter.

use std::collections::BTreeSet;

use crate::timeline::layout::{Kind, Layout, Track};
use analysis::timeline::thread_lane::ThreadOrder;
use analysis::timeline::user_spans::SpanPrefixes;
use eventlog::hash::{SeededMap, SeededSet};
use eventlog::ids::ThreadId;
use insight::is_runtime_label;
use model::sorting::CompactSort;
use scene::format;
use session::tracks::group::TrackGroup;
use session::tracks::name::TrackName;
use session::tracks::{TrackEntry, TrackId, TrackListInput};

/// Track settings of the user; the default is that of a freshly opened log. Names are those of [`TrackId::link`] and
/// [`TrackGroup::name`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrackView {
    /// Filter text: only tracks whose name contains it are shown, ignoring case.
    pub filter: String,
    /// Hidden tracks and groups.
    pub hidden: BTreeSet<TrackName>,
    /// Folded groups.
    pub folded: BTreeSet<TrackName>,
    /// Unfolded groups that start folded.
    pub opened: BTreeSet<TrackName>,
    /// Tracks pinned at the top, in this order.
    pub pinned: Vec<TrackName>,
    /// Moves of tracks and groups within their group, in the order they were made.
    pub moved: Vec<Move>,
    /// Tracks that the selected range is limited to; empty for all.
    pub selected: BTreeSet<TrackName>,
    /// Order of the threads.
    pub threads: ThreadOrder,
    /// Whether threads are grouped by label.
    pub by_label: bool,
    /// Messages that begin and end spans of the program.
    pub prefixes: SpanPrefixes,
}

/// Move of a track within its group, or of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Moved track or group.
    pub name: TrackName,
    /// New predecessor; `None` moves to the front.
    pub after: Option<TrackName>,
}

/// Change of the tracks by the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrackChange {
    /// Folds or unfolds a group or label.
    Fold(TrackName),
    /// Pins a track at the top, or unpins it.
    Pin(TrackName),
    /// Hides a track or a group.
    Hide(TrackName),
    /// Shows a hidden track or group.
    Show(TrackName),
    /// Adds a track to those that the selected range is limited to, or removes it.
    Select(TrackName),
    /// Moves a track or group.
    Move(Move),
    /// Moves a track or group one position up or down.
    Shift(TrackName, Direction),
    /// Shows all hidden tracks and groups.
    ShowAll,
    /// Resets everything except the filter and the span prefixes.
    Reset,
    /// Changes the order of the threads.
    Order(ThreadOrder),
    /// Toggles grouping of threads by label.
    GroupThreads,
    /// Changes the prefixes that mark spans of the program.
    Prefixes(SpanPrefixes),
}

/// Direction of a move by one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Toward the start of the list.
    Up,
    /// Toward the end of the list.
    Down,
}

/// Maximum number of names in a list, which is also the limit of a link.
const MAX_NAMES: usize = 64;

fn toggle(set: &mut BTreeSet<TrackName>, name: TrackName) {
    if !set.remove(&name) && set.len() < MAX_NAMES {
        set.insert(name);
    }
}

impl TrackView {
    /// Applies a change; `layout` is the current layout.
    pub fn change(&mut self, change: TrackChange, layout: &Layout) {
        match change {
            TrackChange::Fold(name) => {
                let folded =
                    TrackGroup::from_name(name.as_str()).is_some_and(TrackGroup::starts_folded);
                toggle(
                    if folded {
                        &mut self.opened
                    } else {
                        &mut self.folded
                    },
                    name,
                );
            }
            TrackChange::Pin(name) => match self.pinned.iter().position(|other| *other == name) {
                Some(at) => drop(self.pinned.remove(at)),
                None if self.pinned.len() < MAX_NAMES => self.pinned.push(name),
                None => {}
            },
            TrackChange::Hide(name) => {
                self.pinned.retain(|other| *other != name);
                self.selected.remove(&name);
                if self.hidden.len() < MAX_NAMES {
                    self.hidden.insert(name);
                }
            }
            TrackChange::Show(name) => {
                self.hidden.remove(&name);
            }
            TrackChange::Select(name) => toggle(&mut self.selected, name),
            TrackChange::Move(one) => self.insert_move(one, layout),
            TrackChange::Shift(name, direction) => {
                if let Some(one) = layout.shifted(&name, direction) {
                    self.insert_move(one, layout);
                }
            }
            TrackChange::ShowAll => self.hidden.clear(),
            TrackChange::Reset => {
                *self = Self {
                    filter: std::mem::take(&mut self.filter),
                    prefixes: std::mem::take(&mut self.prefixes),
                    ..Self::default()
                };
            }
            TrackChange::Order(order) => self.threads = order,
            TrackChange::GroupThreads => self.by_label = !self.by_label,
            TrackChange::Prefixes(prefixes) => self.prefixes = prefixes,
        }
    }

    /// Returns whether a heading is folded while there is no filter.
    pub(super) fn is_folded(&self, name: &TrackName, starts_folded: bool) -> bool {
        if starts_folded {
            !self.opened.contains(name)
        } else {
            self.folded.contains(name)
        }
    }

    /// Moves a track or group. Pinned tracks are reordered directly. Other moves are appended to a log, because an
    /// earlier move can still matter if its predecessor moves later; the oldest is dropped when the log is full.
    fn insert_move(&mut self, one: Move, layout: &Layout) {
        let pinned = self.pinned.iter().position(|other| *other == one.name);
        if let Some(at) = pinned {
            let name = self.pinned.remove(at);
            let after = one.after.as_ref();
            let after = after.and_then(|after| self.pinned.iter().position(|other| other == after));
            self.pinned.insert(after.map_or(0, |after| after + 1), name);
            return;
        }
        if layout.tracks().iter().any(|track| track.name == one.name) {
            if self.moved.len() == MAX_NAMES {
                self.moved.remove(0);
            }
            self.moved.push(one);
        }
    }
}

/// Returns all tracks to show: pinned ones, then group by group.
pub fn arrange(known: &TrackListInput<'_>, view: &TrackView) -> Vec<Track> {
    let builder = Builder {
        known,
        listed: known.threads.iter().map(|row| row.id).collect(),
        all: TrackId::entries_to_show(known),
        view,
        filter: view.filter.trim().to_lowercase(),
    };
    let mut pinned = Vec::new();
    let mut tracks = Vec::new();
    for (name, group) in builder.groups(None) {
        builder.group(&name, (group, None), &mut pinned, &mut tracks);
        // Tracks of single processes follow those of the whole log.
        if group == TrackGroup::Program {
            builder.processes(&mut pinned, &mut tracks);
        }
    }
    let place = |track: &Track| view.pinned.iter().position(|name| *name == track.name);
    pinned.sort_small_by_key(place);
    pinned.extend(tracks);
    pinned
}

/// Replays moves on a list in its default order.
fn apply_moves<T>(list: &mut Vec<T>, name: impl Fn(&T) -> &TrackName, moved: &[Move]) {
    let place = |list: &[T], wanted: &TrackName| list.iter().position(|one| name(one) == wanted);
    for one in moved {
        let Some(from) = place(list, &one.name) else {
            continue;
        };
        let after = match &one.after {
            None => None,
            Some(after) => match place(list, after) {
                Some(after) if after != from => Some(after),
                _ => continue,
            },
        };
        let item = list.remove(from);
        let to = after.map_or(0, |after| if after < from { after + 1 } else { after });
        list.insert(to, item);
    }
}

struct Builder<'a> {
    known: &'a TrackListInput<'a>,
    /// Threads that pass the filter; there may be ten thousand.
    listed: SeededSet<ThreadId>,
    /// All tracks of the log.
    all: Vec<TrackEntry>,
    view: &'a TrackView,
    /// Filter text in lower case.
    filter: String,
}

impl Builder<'_> {
    /// Returns the groups of a process, or of no process, in the user's order.
    fn groups(&self, process: Option<usize>) -> Vec<(TrackName, TrackGroup)> {
        let name = |group: TrackGroup| (group.name_of(process), group);
        let mut groups: Vec<_> = TrackGroup::ALL.into_iter().map(name).collect();
        apply_moves(&mut groups, |(name, _)| name, &self.view.moved);
        groups
    }

    /// Appends each process as a heading with its groups; does nothing for the log of a single process.
    fn processes(&self, pinned: &mut Vec<Track>, tracks: &mut Vec<Track>) {
        for (place, own) in self.known.contents.processes.all.iter().enumerate() {
            let name = TrackName::process(place);
            if self.view.hidden.contains(&name) {
                continue;
            }
            let mut inside = Vec::new();
            for (name, group) in self.groups(Some(place)) {
                if !self.view.hidden.contains(&group.name_of(None)) {
                    self.group(&name, (group, Some(place)), pinned, &mut inside);
                }
            }
            if inside.is_empty() {
                continue;
            }
            let folded = self.is_folded(&name, false);
            let note = own.pid.map_or_else(String::new, |pid| format!("pid {pid}"));
            tracks.push(Track {
                process: Some(place),
                note,
                folded,
                ..Track::new(Kind::Process, name, &own.name)
            });
            if !folded {
                tracks.extend(inside);
            }
        }
    }

    fn group(
        &self,
        name: &TrackName,
        (group, process): (TrackGroup, Option<usize>),
        pinned: &mut Vec<Track>,
        tracks: &mut Vec<Track>,
    ) {
        if self.view.hidden.contains(name) {
            return;
        }
        let mut rows = self.rows(group, process);
        apply_moves(&mut rows, |track| &track.name, &self.view.moved);
        rows.retain(|track| !self.view.hidden.contains(&track.name));
        for track in &mut rows {
            track.selected = self.view.selected.contains(&track.name);
            track.pinned = self.view.pinned.contains(&track.name);
            // A pinned track is not below the heading of its process, so its name includes the process.
            if let Some(own) = process.filter(|_| track.pinned && group != TrackGroup::Capabilities)
            {
                let own = self.known.contents.processes.all.get(own);
                let of = own.map_or("", |own| own.name.as_str());
                track.title = format!("{of} · {}", track.title);
            }
        }
        let (up, mut rest): (Vec<Track>, Vec<Track>) =
            rows.into_iter().partition(|track| track.pinned);
        pinned.extend(up);
        if !group.has_threads() {
            rest.retain(|track| self.passes(track));
        }
        if rest.is_empty() {
            return;
        }
        let folded = self.is_folded(name, group.starts_folded());
        let note = self.note((group, process), rest.len(), folded);
        tracks.push(Track {
            // The short title is not in upper case, which takes more room.
            title: group.title().to_uppercase(),
            process,
            note,
            folded,
            ..Track::new(Kind::Group(group), name.clone(), group.short_title())
        });
        if folded {
            return;
        }
        if group == TrackGroup::Threads && self.view.by_label {
            self.labels(rest, process, tracks);
        } else {
            tracks.extend(rest);
        }
    }

    /// Returns whether a heading is folded; a filter unfolds everything.
    fn is_folded(&self, name: &TrackName, starts_folded: bool) -> bool {
        self.filter.is_empty() && self.view.is_folded(name, starts_folded)
    }

    fn passes(&self, track: &Track) -> bool {
        self.filter.is_empty() || track.title.to_lowercase().contains(&self.filter)
    }

    fn note(
        &self,
        (group, process): (TrackGroup, Option<usize>),
        rows: usize,
        folded: bool,
    ) -> String {
        let (listed, all) = (self.known.threads.len() as u64, self.known.threads_in_all);
        if group == TrackGroup::Threads && process.is_none() && listed < all {
            let labels = self
                .known
                .threads
                .iter()
                .filter_map(|row| row.label.as_deref());
            let of_runtime = labels.filter(|label| is_runtime_label(label)).count() as u64;
            let [shown, all] = [listed, all].map(|count| count.saturating_sub(of_runtime));
            return format!("{} of {}", format::count(shown), format::short_count(all));
        }
        if folded || group == TrackGroup::Threads {
            format::count(rows as u64)
        } else {
            String::new()
        }
    }

    /// Groups threads by label under headings, ordered by the first thread of each label.
    fn labels(&self, rows: Vec<Track>, process: Option<usize>, tracks: &mut Vec<Track>) {
        let mut labels: Vec<(String, Vec<Track>)> = Vec::new();
        let mut places = SeededMap::default();
        let labelled = |track: &Track| !track.note.is_empty();
        for track in rows {
            let label = if labelled(&track) {
                track.title.clone()
            } else {
                "without a label".to_owned()
            };
            let place = *places.entry(label.clone()).or_insert_with(|| {
                labels.push((label, Vec::new()));
                labels.len() - 1
            });
            if let Some((_, rows)) = labels.get_mut(place) {
                rows.push(track);
            }
        }
        for (label, rows) in labels {
            let of = process.map_or_else(String::new, |place| format!("{place}"));
            let name = TrackName::cut(&format!("label{of}:{label}"));
            let folded = self.is_folded(&name, false);
            tracks.push(Track {
                process,
                note: format!("× {}", format::count(rows.len() as u64)),
                folded,
                ..Track::new(Kind::Label, name, &label)
            });
            if !folded {
                tracks.extend(rows);
            }
        }
    }

    /// Returns all rows of a group in default order. Threads that neither pass the filter nor are pinned are left
    /// out.
    fn rows(&self, group: TrackGroup, process: Option<usize>) -> Vec<Track> {
        let shown = |track: &&TrackEntry| {
            let thread = track.row.thread();
            let listed = |id| self.listed.contains(&id) || self.is_pinned(id);
            group_of(track) == group
                && self.process_of(track.row) == process
                && thread.is_none_or(listed)
        };
        let rows = self.all.iter().filter(shown);
        rows.map(|track| self.track(track)).collect()
    }

    /// Returns the index of the process that a track belongs to; `None` for the log of a single process.
    fn process_of(&self, row: TrackId) -> Option<usize> {
        let processes = &self.known.contents.processes;
        match (row.cap(), row.thread()) {
            _ if !processes.are_several() => None,
            (Some(cap), _) => processes.process_of_cap(cap),
            (_, thread) => processes.process_of_thread(thread?),
        }
    }

    fn is_pinned(&self, thread: ThreadId) -> bool {
        self.view.pinned.contains(&TrackName::thread(thread))
    }

    fn track(&self, listed: &TrackEntry) -> Track {
        let name = TrackName::cut(&listed.row.link(self.known.contents));
        Track {
            group: group_of(listed),
            process: self.process_of(listed.row),
            short_title: listed.short.clone(),
            note: listed.note.clone(),
            missing_series: listed.missing_series.clone(),
            ..Track::new(Kind::Track(listed.row), name, &listed.title)
        }
    }
}

/// Returns the group of a track; threads that the runtime uses for waiting form their own group.
fn group_of(listed: &TrackEntry) -> TrackGroup {
    match listed.row.group() {
        TrackGroup::Threads if is_runtime_label(&listed.title) => TrackGroup::RuntimeThreads,
        group => group,
    }
}

#[cfg(test)]
pub(crate) mod tests;
