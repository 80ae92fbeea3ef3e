//! Tests that every mark is explained exactly once, and snapshots of the samples.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::small_scene::Part as Shown;
use super::*;
use analysis::timeline::instants::InstantKind;
use analysis::timeline::nonmoving::Phase;
use model::class::Class;
use model::marks::MarkKind;
use scene::painter::TextPainter;
use scene::svg::SvgPainter;
use session::tracks::instants::InstantPayload;
use session::tracks::legend::SAMPLE_PX;
use session::tracks::nonmoving::PhasePayload;

fn all() -> Vec<(Section, Entry)> {
    let of = |section: Section| {
        let entries = entries(section).into_iter();
        entries.map(move |entry| (section, entry))
    };
    Section::ALL.into_iter().flat_map(of).collect()
}

fn rect_of(entry: &Entry) -> Rect {
    Rect::new(0.0, 0.0, SAMPLE_PX, entry.height_px())
}

fn pictures(patterns: bool, palette: &Palette, wanted: impl Fn(&SmallScene) -> bool) -> String {
    let mut out = String::new();
    for (section, entry) in all().into_iter().filter(|(_, entry)| wanted(&entry.scene)) {
        let mut painter = TextPainter::default();
        paint_sample(&entry, rect_of(&entry), palette, patterns, &mut painter);
        let _ = writeln!(
            out,
            "# {} / {}\n{}\n",
            section.title(),
            entry.name,
            painter.finish()
        );
    }
    out
}

/// Returns whether the sample shows a few single spans, rather than a graph or many small pieces.
fn few_marks(scene: &SmallScene) -> bool {
    scene.marks.reply.len() < 10 && scene.marks.reply.points.row.is_empty()
}

/// Compares a picture with its snapshot.
fn snapshot(name: &str, picture: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(format!("legend__{name}"), picture));
}

#[test]
fn samples() {
    snapshot("samples", &pictures(false, &Palette::LIGHT, few_marks));
}

#[test]
fn samples_of_waits_and_collections_with_patterns() {
    let rows = |scene: &SmallScene| {
        few_marks(scene)
            && scene.marks.rows.iter().any(|row| {
                matches!(
                    row,
                    TrackId::Capability(_)
                        | TrackId::Thread(_)
                        | TrackId::Collections(_)
                        | TrackId::Nonmoving(_)
                )
            })
            && scene.part == Shown::Tracks
            && scene.arrows.is_empty()
    };
    let picture = pictures(true, &Palette::LIGHT_CONTRAST, rows);
    snapshot("samples_with_patterns", &picture);
}

/// With patterns, marks of the same shape are distinguishable without color.
#[test]
fn patterns_tell_apart_what_shapes_do_not() {
    let plain = Palette {
        running: Palette::LIGHT.io,
        gc: Palette::LIGHT.io,
        gc_sync: Palette::LIGHT.io,
        foreign: Palette::LIGHT.io,
        mvar: Palette::LIGHT.io,
        black_hole: Palette::LIGHT.io,
        stm: Palette::LIGHT.io,
        throw_to: Palette::LIGHT.io,
        ready: Palette::LIGHT.io,
        ..Palette::LIGHT
    };
    let look = |entry: &Entry| {
        let mut painter = TextPainter::default();
        paint_sample(entry, rect_of(entry), &plain, true, &mut painter);
        let lines = painter.lines.into_iter();
        // Text in a bar does not count as a pattern.
        let shapes: Vec<String> = lines.filter(|line| !line.starts_with("text")).collect();
        shapes.join("\n")
    };
    for section in [
        Section::Capabilities,
        Section::Threads,
        Section::Collections,
    ] {
        let mut seen: Vec<((String, Vec<TrackId>), &'static str)> = Vec::new();
        let entries = entries(section);
        for entry in entries.iter().filter(|entry| few_marks(&entry.scene)) {
            // Rows of different kinds are distinguished by their names.
            let look = (look(entry), entry.scene.marks.rows.clone());
            let same = seen.iter().find(|(other, _)| *other == look);
            // Phases of a collection without work differ only in text, and so do collections labeled with their
            // generation.
            let words_only = |name: &str| {
                ["No work", "Idle", "Done", "A major", "A collection without"]
                    .iter()
                    .any(|start| name.starts_with(start))
            };
            if let Some((_, other)) = same {
                assert!(
                    words_only(entry.name) && words_only(other),
                    "{other} and {} look the same",
                    entry.name
                );
            }
            seen.push((look, entry.name));
        }
    }
}

#[test]
fn names_are_unique_and_meanings_are_sentences() {
    for section in Section::ALL {
        let entries = entries(section);
        let names: BTreeSet<&str> = entries.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), entries.len(), "{section:?}");
        for entry in entries {
            assert!(entry.meaning.ends_with('.'), "{}", entry.meaning);
            assert!(entry.height_px() > 10.0);
        }
    }
}

#[test]
fn every_class_kind_phase_and_row_is_explained() {
    let entries = all();
    let marks = || {
        entries.iter().flat_map(|(_, entry)| {
            let marks = &entry.scene.marks;
            let of = move |row: &TrackId| marks.items(*row).collect::<Vec<_>>();
            marks.rows.iter().flat_map(of)
        })
    };
    // These classes only subdivide ready and idle time in sums; no mark of a single span has them.
    let sums = [
        Class::CapIdleWorkAvailable,
        Class::RunnableDuringGc,
        Class::ThreadRunnableCapIdle,
    ];
    for class in Class::ALL.into_iter().filter(|class| !sums.contains(class)) {
        let found = marks().any(|item| item.class == class && item.kind == MarkKind::One);
        assert!(found, "{class:?}");
    }
    for class in [Class::Running, Class::Open] {
        assert!(marks().any(|item| item.class == class && item.row.thread().is_some()));
    }
    let of_events = || marks().filter(|item| matches!(item.row, TrackId::Instants(_)));
    for kind in InstantKind::ALL {
        let found = of_events().any(|item| item.read::<InstantPayload>().kind == kind);
        assert!(found, "{kind:?}");
    }
    for phase in Phase::ALL {
        let found = marks().any(|item| {
            matches!(item.row, TrackId::Nonmoving(_))
                && item.kind == MarkKind::One
                && item.read::<PhasePayload>().phase == phase
        });
        assert!(found, "{phase:?}");
    }
    for kind in TrackId::KINDS {
        let mut rows = entries
            .iter()
            .flat_map(|(_, entry)| &entry.scene.marks.rows);
        assert!(rows.any(|row| row.kind() == *kind), "{kind}");
    }
}

/// Clips begin and end in pairs, for every visible part.
#[test]
fn clips_are_paired() {
    for (_, entry) in all() {
        let mut painter = SvgPainter::new((SAMPLE_PX, entry.height_px()));
        paint_sample(&entry, rect_of(&entry), &Palette::DARK, true, &mut painter);
        let svg = painter.finish();
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
    }
}
