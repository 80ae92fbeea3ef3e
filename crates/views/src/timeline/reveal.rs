//! Enumeration of all tracks of a log, and bringing one of them into view.

use std::collections::BTreeSet;

use crate::timeline::arrange::{TrackChange, TrackView, arrange};
use crate::timeline::layout::{Kind, Layout};
use session::tracks::group::TrackGroup;
use session::tracks::name::TrackName;
use session::tracks::{TrackId, TrackListInput};

/// Track of a log, shown or not.
#[derive(Clone, Debug, PartialEq)]
pub struct RevealTarget {
    /// Row that the track shows.
    pub row: TrackId,
    /// Group of the track.
    pub group: TrackGroup,
    /// Index of the process, if the log has several.
    pub process: Option<usize>,
    /// Name in links and settings.
    pub name: TrackName,
    /// Displayed title.
    pub title: String,
    /// Label heading above the track, if threads are grouped by label.
    pub label: Option<TrackName>,
}

/// Returns the names of all groups of all processes.
fn groups(known: &TrackListInput<'_>) -> BTreeSet<TrackName> {
    let places = (0..known.contents.processes.all.len()).map(Some);
    let places = std::iter::once(None).chain(places);
    let of = |place| TrackGroup::ALL.map(|group| group.name_of(place));
    places.flat_map(of).collect()
}

/// Returns all tracks of a log in default order, including hidden, folded and filtered ones; threads are ordered
/// and grouped as in `view`.
pub fn all_tracks(known: &TrackListInput<'_>, view: &TrackView) -> Vec<RevealTarget> {
    let open = TrackView {
        opened: groups(known),
        threads: view.threads,
        by_label: view.by_label,
        ..TrackView::default()
    };
    let mut label = None;
    let mut all = Vec::new();
    for track in arrange(known, &open) {
        match track.kind {
            Kind::Process | Kind::Group(_) => label = None,
            Kind::Label => label = Some(track.name),
            Kind::Track(row) => all.push(RevealTarget {
                row,
                group: track.group,
                process: track.process,
                name: track.name,
                title: track.title,
                label: label.clone(),
            }),
        }
    }
    all
}

/// Returns the displayed names of hidden tracks of the log, of hidden processes and of their hidden groups. Groups
/// that are not specific to a process are left out.
pub fn hidden_names(known: &TrackListInput<'_>, view: &TrackView) -> Vec<(TrackName, String)> {
    if view.hidden.is_empty() {
        return Vec::new();
    }
    let all = all_tracks(known, view).into_iter();
    let hidden = all.filter(|track| view.hidden.contains(&track.name));
    let mut names: Vec<_> = hidden.map(|track| (track.name, track.title)).collect();
    for (place, own) in known.contents.processes.all.iter().enumerate() {
        names.push((TrackName::process(place), own.name.clone()));
        let groups = TrackGroup::ALL.into_iter();
        let name = |group: TrackGroup| format!("{} · {}", own.name, group.title());
        names.extend(groups.map(|group| (group.name_of(Some(place)), name(group))));
    }
    names.retain(|(name, _)| view.hidden.contains(name));
    names
}

impl TrackView {
    /// Makes a track visible: not hidden, not folded, not filtered out.
    pub fn reveal(&mut self, track: &RevealTarget) {
        let group = track.group;
        let group_name = group.name_of(track.process);
        if let Some(process) = track.process.map(TrackName::process) {
            self.hidden.remove(&process);
            self.hidden.remove(&group.name_of(None));
            self.folded.remove(&process);
        }
        self.hidden.remove(&group_name);
        self.hidden.remove(&track.name);
        // The thread list is filtered before this: every listed thread passes.
        let filter = self.filter.trim().to_lowercase();
        if !group.has_threads() && !track.title.to_lowercase().contains(&filter) {
            self.filter.clear();
        }
        let folded = self.is_folded(&group_name, group.starts_folded());
        if folded && !self.pinned.contains(&track.name) {
            self.change(TrackChange::Fold(group_name), &Layout::default());
        }
        if let Some(label) = &track.label {
            self.folded.remove(label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::arrange::tests::{input, thread};
    use eventlog::ids::{CapId, ThreadId};
    use session::tracks::activity::Activity;
    use session::tracks::capability::Capability;
    use session::tracks::collections::Collections;
    use session::tracks::instants::Instants;
    use session::tracks::memory::Memory;
    use session::tracks::messages::Messages;
    use session::tracks::thread::Thread;
    use session::tracks::{LogContents, TrackEntry};

    #[test]
    fn what_is_hidden_folded_or_filtered_can_be_reached() {
        let contents = LogContents {
            tracks: vec![
                TrackEntry::new(Activity, "Activity"),
                TrackEntry::new(Collections, "Collections"),
                TrackEntry::new(Messages, "Messages"),
                TrackEntry::new(Instants(CapId(0)), "Events of capability 0"),
                TrackEntry::new(Memory::Heap, "Heap"),
            ],
            ..LogContents::default()
        };
        let caps = [(CapId(0), String::new()), (CapId(1), String::new())];
        let threads = [thread(6, Some("TimerManager"))];
        let known = input(&caps, &contents, &threads);
        let name = |name| TrackName::new(name).expect("a name");
        let view = TrackView {
            filter: "capability 1".into(),
            hidden: [name("cap1"), name("caps"), name("memory")].into(),
            folded: [name("caps"), name("program")].into(),
            ..TrackView::default()
        };
        let all = all_tracks(&known, &view);
        let rows: Vec<TrackId> = all.iter().map(|track| track.row).collect();
        let expected: [TrackId; 8] = [
            Activity.into(),
            Collections.into(),
            Messages.into(),
            Capability(CapId(0)).into(),
            Capability(CapId(1)).into(),
            Instants(CapId(0)).into(),
            Memory::Heap.into(),
            Thread(ThreadId(6)).into(),
        ];
        assert_eq!(
            rows.iter().collect::<BTreeSet<_>>(),
            expected.iter().collect()
        );
        for track in &all {
            let mut view = view.clone();
            view.reveal(track);
            let shown = arrange(&known, &view);
            assert!(
                shown.iter().any(|shown| shown.row() == Some(track.row)),
                "{track:?}"
            );
            // Revealing is idempotent.
            let before = view.clone();
            view.reveal(track);
            assert_eq!(view, before);
        }
    }
}
