//! Table of the panels below the timeline. It drives tabs, keys, palette, help, `docs/keys.md` and links.

use analysis::timeline::thread_table::ThreadView;
use session::events::EventList;

use crate::heap::settings::HeapView;
use crate::key::{at, text};
use crate::view::compare::CompareView;
use crate::view::findings::FindingsView;
use crate::view::flame::FlameView;
use crate::view::panel::{Codec, Panel, PanelName};
use crate::view::ticky::TickyView;

/// Collections panel, linked from other panels.
pub const COLLECTIONS: PanelName = PanelName("gc");
/// Panel that compares two logs; opens automatically when both are loaded.
pub const COMPARE: PanelName = PanelName("compare");
/// Event panel, linked from other panels.
pub const EVENTS: PanelName = PanelName("events");
/// Findings panel, linked from other panels.
pub const FINDINGS: PanelName = PanelName("findings");
/// Flame graph panel, linked from other panels.
pub const FLAME_GRAPH: PanelName = PanelName("flame");
/// Heap panel; opens automatically for a log with a heap profile.
pub const HEAP: PanelName = PanelName("heap");
/// Panel that lists what the timeline shows.
pub const IN_VIEW: PanelName = PanelName("view");
/// Notes panel; opens when a note is added.
pub const NOTES: PanelName = PanelName("notes");
/// Panel with the numbers of the whole program, linked from other panels.
pub const SUMMARY: PanelName = PanelName("summary");
/// Thread panel, linked from other panels.
pub const THREADS: PanelName = PanelName("threads");
/// Panel of the process, with the diagnostics of the log.
pub const PROCESS: PanelName = PanelName("process");

/// Expands a macro with one row per panel, in tab order: name in links, key, title, type of its view settings,
/// component of the page, help. Only the page, which is a separate package, resolves the components.
#[macro_export]
macro_rules! for_each_panel {
    ($expand:ident) => {
        $expand! {
            "summary", "1", "Summary", (), summary::Summary, "How the time and the memory of the program were spent.";
            "findings", , "Findings", FindingsView, findings::FindingsPanel, "What costs the program time or memory, what may help, and where to see it.";
            "events", "2", "Events", EventList, events::Events, "Every event of the log, with filters and a search.";
            "threads", "3", "Threads", ThreadView, threads::Threads, "How each thread spent its time.";
            "gc", "4", "Collections", (), collections::Collections, "Every garbage collection and its pause.";
            "sparks", "5", "Sparks", (), sparks::Sparks, "What became of the sparks, and how long they ran.";
            "flame", "6", "Flame graph", FlameView, flame::FlameGraph, "Where the time or the memory goes, by call stacks.";
            "heap", , "Heap", HeapView, heap::Heap, "What holds the heap: heap profiles as charts and tables.";
            "ticky", , "Ticky", TickyView, ticky::Ticky, "How often code was entered and what it allocated, by ticky counters.";
            "process", "7", "Process", (), process::Process, "How the program was run, and what is wrong or odd about the log.";
            "view", "8", "In view", (), in_view::InView, "What the timeline shows now, as a table.";
            "compare", , "Compare", CompareView, compare::Compare, "Two logs beside each other: what differs, and whether it is better.";
            "notes", "9", "Notes", (), notes::NotesPanel, "Names that you give to moments and ranges.";
        }
    };
}

/// Builds the panel table. The key of a panel is a digit, both by position and by character, while there are
/// digits left.
macro_rules! panels {
    ($($name:literal, $($digit:literal)?, $title:literal, $settings:ty, $component:path, $help:literal;)*) => {
        /// All panels, in tab order.
        pub static PANELS: &[Panel] = &[$(Panel {
            name: PanelName($name),
            title: $title,
            help: $help,
            keys: &[$(at(concat!("Digit", $digit)), text($digit))?],
            codec: Codec::of::<$settings>(),
        }),*];
    };
}

for_each_panel!(panels);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::actions::{bindings, keys_page};
    use crate::share::held::{keys, what};
    use crate::share::{Link, decode, encode};
    use crate::view::panel::find;

    #[test]
    fn every_panel_is_known_by_its_own_name_key_and_link_keys() {
        let names: HashSet<PanelName> = PANELS.iter().map(|panel| panel.name).collect();
        assert_eq!(names.len(), PANELS.len());
        for name in [
            COLLECTIONS,
            COMPARE,
            EVENTS,
            FINDINGS,
            FLAME_GRAPH,
            HEAP,
            IN_VIEW,
            NOTES,
            PROCESS,
            SUMMARY,
            THREADS,
            PanelName::default(),
        ] {
            assert!(find(PANELS, name.0).is_some(), "{name:?}");
        }
        let mut chords = HashSet::new();
        for chord in bindings(PANELS).flat_map(|binding| binding.keys) {
            assert!(chords.insert(*chord), "{chord:?} means two things");
        }
        let own = |panel: &Panel| panel.write(&Link::default().view.settings);
        let mut keys = HashSet::new();
        for (key, fresh) in PANELS.iter().flat_map(own) {
            assert!(keys.insert(key), "{key} means two things");
            assert_eq!(fresh, None, "{key}");
        }
    }

    #[test]
    fn a_link_opens_each_panel() {
        for panel in PANELS {
            let link = decode(&format!("v=1&p={}", panel.name.0), PANELS);
            assert_eq!(link.view.panel, panel.name);
            assert_eq!(decode(&encode(&link, PANELS), PANELS), link);
        }
    }

    /// Returns the backquoted texts at the start of the table rows of `docs/link.md`.
    fn documented() -> Vec<String> {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/link.md");
        let text = std::fs::read_to_string(file).expect("docs/link.md");
        let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
        let keys = rows.filter_map(|row| Some(row.split_once("` |")?.0.to_owned()));
        keys.collect()
    }

    #[test]
    fn every_key_of_a_link_is_documented_and_said() {
        let written = keys(PANELS);
        let missing = |key: &&&str| **key != "v" && what(key).is_none();
        assert_eq!(
            written.iter().find(missing),
            None,
            "in the table of held.rs"
        );
        assert_eq!(
            documented(),
            written,
            "the keys of docs/link.md, in their order"
        );
    }

    /// Checks that the documentation matches the tables.
    #[test]
    fn the_keys_page_is_up_to_date() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/keys.md");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(file, keys_page(PANELS)).expect("docs/ can be written");
        }
        let written = std::fs::read_to_string(file).unwrap_or_default();
        assert!(
            written == keys_page(PANELS),
            "UPDATE_DOCS=1 cargo test keys_page writes docs/keys.md anew"
        );
    }
}
