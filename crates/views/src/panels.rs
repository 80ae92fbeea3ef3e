//! Table of the panels below the timeline. It drives tabs, keys, palette, help, `docs/keys.md` and links.

use analysis::timeline::thread_table::ThreadTableSettings;
use session::events::EventList;

use crate::heap::settings::HeapView;
use crate::key::{by_character, by_position};
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
            "summary", "1", "Summary", (), summary::Summary, "Time and memory of the program.";
            "findings", , "Findings", FindingsView, findings::FindingsPanel, "Performance problems, with their cost, advice and evidence.";
            "events", "2", "Events", EventList, events::Events, "All events of the log, with filters and search.";
            "threads", "3", "Threads", ThreadTableSettings, threads::Threads, "Time of each thread, by state.";
            "gc", "4", "Collections", (), collections::Collections, "Every garbage collection and its pause.";
            "sparks", "5", "Sparks", (), sparks::Sparks, "Fates and run times of sparks.";
            "flame", "6", "Flame graph", FlameView, flame::FlameGraph, "Time or memory by call stack.";
            "heap", , "Heap", HeapView, heap::Heap, "Heap profiles, as charts and tables.";
            "ticky", , "Ticky", TickyView, ticky::Ticky, "Ticky counters: entries and allocation of code.";
            "process", "7", "Process", (), process::Process, "Command line and environment of the program; diagnostics of the log.";
            "view", "8", "In view", (), in_view::InView, "The visible part of the timeline, as a table.";
            "compare", , "Compare", CompareView, compare::Compare, "Differences between two logs, with improvements and regressions.";
            "notes", "9", "Notes", (), notes::NotesPanel, "Names for instants and ranges.";
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
            keys: &[$(by_position(concat!("Digit", $digit)), by_character($digit))?],
            codec: Codec::for_settings::<$settings>(),
        }),*];
    };
}

for_each_panel!(panels);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::actions::{bindings, keys_page};
    use crate::share::contents::{key_description, keys};
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
        let missing = |key: &&&str| **key != "v" && key_description(key).is_none();
        assert_eq!(
            written.iter().find(missing),
            None,
            "in the table of share/contents.rs"
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
