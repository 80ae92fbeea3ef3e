//! The chart of a heap profile shows its censuses, at any width.

use crate::common;

use analysis::recording::Recording;
use common::fixture_cases;
use eventlog::ids::Nanos;
use model::census::BandId;
use model::time::Interval;
use session::Session;
use session::heap::chart::{Chart, ChartQuery};
use session::heap::choice::{HeapChoice, HeapFilter};
use session::tracks::TimelineQuery;
use session::tracks::bands::Bands;

/// Returns all logs with a heap profile.
fn logs() -> Vec<(String, Recording, Session)> {
    let all = fixture_cases().into_iter().filter_map(|case| {
        let bytes = case.bytes();
        let recording = common::session_of(&bytes).ok()?.into_recording();
        let has = !recording.heap().is_empty();
        has.then(|| (case.path().to_owned(), recording, case.session()))
    });
    let all: Vec<_> = all.collect();
    assert!(all.len() >= 6, "{} logs have a profile", all.len());
    all
}

fn ask(session: &Session, choice: &HeapChoice, view: Option<Interval>, width_px: u32) -> Chart {
    let query = ChartQuery {
        choice: choice.clone(),
        view,
        width_px,
        ..ChartQuery::default()
    };
    session.ask(&query).expect("a profile")
}

/// Without a filter, the bands of a census add up to its total, and each has the value of the profile.
#[test]
fn stacks_are_the_censuses() {
    for (name, recording, session) in logs() {
        let profile = recording.heap().get(0).expect("a profile");
        let censuses = &profile.censuses;
        for (bands, width_px) in [(3, 10_000), (15, 7), (200, 40)] {
            let choice = HeapChoice {
                bands,
                ..HeapChoice::default()
            };
            let chart = ask(&session, &choice, None, width_px);
            assert!(chart.stacks.len() <= censuses.len());
            assert_eq!(chart.stacks.bands(), chart.bands.len(), "{name}");
            let all: Vec<BandId> = profile.bands().collect();
            for (stack, &census) in chart.stacks.census.iter().enumerate() {
                let total = censuses.totals()[census as usize] as f64;
                let drawn: f64 = (0..chart.bands.len())
                    .map(|band| chart.stacks.value(band, stack))
                    .sum();
                assert_eq!(drawn, total, "{name}, census {census}");
                // Each value is that of a single band; the last one may combine several.
                for (place, band) in chart.bands.iter().enumerate() {
                    let value = chart.stacks.value(place, stack) as u64;
                    let held = || all.iter().map(|&id| censuses.bytes_at(id, census));
                    let is_one = value == 0 || held().any(|bytes| bytes == value);
                    assert!(is_one || !band.is_single(), "{name}: {} {value}", band.name);
                }
            }
        }
    }
}

/// Among censuses that share a pixel, the one with the most bytes is drawn, so that no peak is lost.
#[test]
fn no_peak_is_lost_at_any_width() {
    for (name, recording, session) in logs() {
        let profile = recording.heap().get(0).expect("a profile");
        let peak = profile.censuses.totals().iter().max().copied();
        let peak = peak.unwrap_or_default() as f64;
        for width_px in [1, 3, 10, 100] {
            let chart = ask(&session, &HeapChoice::default(), None, width_px);
            // A view may begin within a pixel.
            assert!(
                chart.stacks.len() <= width_px as usize + 3,
                "{name} {width_px}"
            );
            let highest = chart.stacks.total.iter().copied().fold(0.0, f64::max);
            assert_eq!(highest, peak, "{name} at {width_px} px");
        }
    }
}

/// The track has the bands and the values of the chart.
#[test]
fn the_track_shows_what_the_chart_shows() {
    for (name, _, session) in logs() {
        let chart = ask(&session, &HeapChoice::default(), None, 10_000);
        if !chart.timed {
            continue;
        }
        let Some(view) = session.overview().span else {
            continue;
        };
        let view = Interval::new(view.start(), Nanos(view.end().0 + 1));
        let reply = session.ask(&TimelineQuery {
            view,
            width_px: 10_000,
            rows: vec![Bands.into()],
            heap: HeapFilter::default(),
            run_budget: None,
        });
        let named: Vec<&str> = reply
            .named_series
            .iter()
            .map(|series| &*series.name)
            .collect();
        let bands: Vec<&str> = chart.bands.iter().map(|band| &*band.name).collect();
        assert_eq!(named, bands, "{name}");
        let colors: Vec<u8> = reply
            .named_series
            .iter()
            .map(|series| series.color)
            .collect();
        let slots: Vec<u8> = chart.bands.iter().map(|band| band.slot).collect();
        assert_eq!(colors, slots, "{name}");
        assert_eq!(reply.points.last, chart.stacks.bytes, "{name}");
    }
}

/// Hidden, solo and pinned bands.
#[test]
fn hidden_alone_and_followed() {
    for (name, _, session) in logs() {
        let two = HeapChoice {
            bands: 2,
            ..HeapChoice::default()
        };
        let chart = ask(&session, &two, None, 1000);
        let [first, ..] = &chart.bands[..] else {
            continue;
        };
        let keys = |chart: &Chart| -> Vec<String> {
            chart.bands.iter().map(|band| band.key.clone()).collect()
        };
        let hidden = HeapChoice {
            hidden: vec![first.key.clone()],
            ..two.clone()
        };
        let without = ask(&session, &hidden, None, 1000);
        assert!(!keys(&without).contains(&first.key), "{name}");
        assert_eq!(
            without.hidden,
            [(first.key.clone(), first.name.clone())],
            "{name}"
        );
        let alone = HeapChoice {
            alone: Some(first.key.clone()),
            ..two.clone()
        };
        assert_eq!(
            keys(&ask(&session, &alone, None, 1000)),
            std::slice::from_ref(&first.key),
            "{name}"
        );
        // A small band is shown separately if it is pinned.
        let all = HeapChoice {
            bands: 200,
            ..HeapChoice::default()
        };
        let small = ask(&session, &all, None, 1000);
        let Some(last) = small.bands.iter().rfind(|band| band.is_single()) else {
            continue;
        };
        let followed = HeapChoice {
            pinned: Some(last.key.clone()),
            ..two
        };
        let shown = ask(&session, &followed, None, 1000);
        let found = shown.bands.iter().find(|band| band.key == last.key);
        assert!(found.is_some_and(|band| band.pinned), "{name}");
    }
}
