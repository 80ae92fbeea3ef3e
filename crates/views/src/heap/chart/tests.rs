use proptest::prelude::*;

use super::hit::HitTarget;
use super::paint::Scene;
use super::picture::{Look, heap_svg};
use super::words::describe;
use crate::heap::settings::Form;
use eventlog::ids::Nanos;
use model::time::Interval;
use scene::painter::{Rect, TextPainter};
use scene::palette::Palette;
use scene::viewport::Viewport;
use session::heap::chart::{Chart, ChartBand, Stacks};
use session::heap::colors::{OTHERS, color};

/// Returns a chart with these bands, with a census every 100 ns.
fn chart(values: &[Vec<f64>]) -> Chart {
    let censuses = values.first().map_or(0, Vec::len);
    let name = |place: usize| {
        ["Cons", "Int", "Map"]
            .get(place)
            .copied()
            .unwrap_or("Other")
    };
    let bands = (0..values.len()).map(|place| ChartBand {
        key: name(place).to_owned(),
        name: name(place).to_owned(),
        slot: place as u8,
        ..ChartBand::default()
    });
    let total = |census: usize| values.iter().map(|band| band[census]).sum();
    Chart {
        axis: Interval::new(Nanos(0), Nanos(censuses.max(2) as u64 * 100 - 100)),
        timed: true,
        bands: bands.collect(),
        censuses: censuses as u32,
        censuses_in_view: censuses as u32,
        stacks: Stacks {
            census: (0..censuses as u32).collect(),
            at: (0..censuses).map(|census| census as f64 * 100.0).collect(),
            total: (0..censuses).map(total).collect(),
            bytes: values.concat(),
        },
        ..Chart::default()
    }
}

fn scene(chart: &Chart, form: Form) -> Scene<'_> {
    let area = Rect::new(0.0, 0.0, 400.0, 127.0);
    let mut view = Viewport::new(chart.axis, area.w);
    view.show_exactly(chart.axis);
    Scene {
        chart,
        form,
        one_scale: false,
        view,
        area,
        palette: &Palette::LIGHT,
        range: None,
        pointed: None,
    }
}

fn painted(scene: &Scene<'_>) -> String {
    let mut painter = TextPainter::default();
    scene.paint(&mut painter);
    painter.finish()
}

/// Returns the painted lines of the bands: polygons, fills and texts inside the clip.
fn of_bands(picture: &str) -> Vec<&str> {
    let lines = picture.lines();
    let inside = lines.skip_while(|line| !line.starts_with("clip"));
    let inside = inside.take_while(|line| *line != "unclip");
    inside.filter(|line| !line.starts_with("clip")).collect()
}

#[test]
fn an_area_has_a_polygon_for_each_band_and_its_name_where_there_is_room() {
    let chart = chart(&[vec![500.0, 500.0, 500.0], vec![0.0, 100.0, 500.0]]);
    let picture = painted(&scene(&chart, Form::Area));
    let polygons: Vec<&str> = picture
        .lines()
        .filter(|line| line.starts_with("polygon"))
        .collect();
    // The upper band is painted first, and both extend to the baseline.
    assert_eq!(polygons.len(), 2, "{picture}");
    assert!(polygons[0].contains("400.0,10.9"), "{}", polygons[0]);
    assert!(polygons[1].contains("400.0,59.5"), "{}", polygons[1]);
    assert!(
        polygons.iter().all(|polygon| polygon.contains("0.0,108.0")),
        "{picture}"
    );
    assert!(picture.contains("text “1 Cons”"), "{picture}");
    assert!(picture.contains("text “2 Int”"), "{picture}");
}

#[test]
fn each_form_is_painted() {
    let chart = chart(&[vec![3.0, 1.0], vec![1.0, 1.0]]);
    let share = painted(&scene(&chart, Form::Share));
    // Shares of 3 of 4, then 1 of 2: the edge falls from three quarters to the middle.
    assert!(share.contains("polyline 0.0,33.0 400.0,58.0"), "{share}");
    let stream = painted(&scene(&chart, Form::Stream));
    assert!(stream.contains("polygon 0.0,9.5"), "{stream}");
    let lines = painted(&scene(&chart, Form::Lines));
    let line = lines.lines().find(|line| line.starts_with("polyline"));
    let expected = format!("polyline 0.0,8.0 400.0,74.7 1.75 {}", color(0, false));
    assert_eq!(line, Some(&*expected), "{lines}");
    let bars = painted(&scene(&chart, Form::Bars));
    assert_eq!(
        of_bands(&bars)
            .iter()
            .filter(|line| line.starts_with("fill"))
            .count(),
        8,
        "{bars}"
    );
}

#[test]
fn one_census_is_a_bar() {
    let picture = painted(&scene(&chart(&[vec![7.0]]), Form::Area));
    assert!(!picture.contains("polygon"), "{picture}");
    assert!(
        of_bands(&picture)
            .iter()
            .any(|line| line.starts_with("fill")),
        "{picture}"
    );
}

#[test]
fn a_band_that_is_followed_is_outlined_and_others_stand_back() {
    let mut chart = chart(&[vec![1.0, 1.0], vec![1.0, 1.0]]);
    let plain = painted(&scene(&chart, Form::Area));
    chart.bands[0].pinned = true;
    let followed = painted(&scene(&chart, Form::Area));
    let color_of = |picture: &str, place: usize| -> String {
        let mut polygons = picture.lines().filter(|line| line.starts_with("polygon"));
        let polygon = polygons.nth(place).unwrap_or_default();
        polygon.rsplit(' ').next().unwrap_or_default().to_owned()
    };
    assert_eq!(color_of(&plain, 1), color_of(&followed, 1));
    assert_ne!(color_of(&plain, 0), color_of(&followed, 0));
    let ink = Palette::LIGHT.ink.css();
    let outlines = |picture: &str| {
        let lines = picture.lines().filter(|line| line.starts_with("polyline"));
        lines.filter(|line| line.ends_with(&ink)).count()
    };
    assert_eq!((outlines(&plain), outlines(&followed)), (0, 2));
}

#[test]
fn a_picture_has_its_legend() {
    let mut chart = chart(&[vec![3.0, 1.0], vec![1.0, 1.0]]);
    chart.bands[1] = ChartBand {
        is_rest: true,
        slot: OTHERS,
        ..ChartBand::default()
    };
    chart.others = 12;
    for dark in [false, true] {
        let svg = heap_svg(
            &chart,
            "a <log>",
            &Look {
                dark,
                ..Look::default()
            },
        );
        assert!(
            svg.contains("a &lt;log&gt;") && svg.contains(">Cons<"),
            "{svg}"
        );
        assert!(svg.contains("12 other bands"), "{svg}");
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
    }
}

#[test]
fn what_is_pointed_at_is_said() {
    let chart = chart(&[vec![3.0, 1.0], vec![1.0, 1.0]]);
    let target = HitTarget {
        stack: 0,
        band: Some(0),
    };
    let text = describe(&chart, target)
        .sentence()
        .replace(scene::format::NBSP, " ");
    assert_eq!(
        text,
        "1 Cons: at census 1 of 2, 0 ns, bytes 3 B, share 75.0 % of 4 B, rank 1 of 2 shown"
    );
}

proptest! {
    /// The center of a band with nonzero height hits that band.
    #[test]
    fn a_band_is_hit_where_it_is(
        values in prop::collection::vec(prop::collection::vec(0u16..500, 6), 1..6),
        form in prop::sample::select(vec![Form::Area, Form::Share, Form::Stream, Form::Bars]),
        stack in 0usize..6,
    ) {
        let values: Vec<Vec<f64>> = values
            .iter()
            .map(|band| band.iter().map(|&value| f64::from(value)).collect())
            .collect();
        let chart = chart(&values);
        let scene = scene(&chart, form);
        for band in 0..values.len() {
            let pointed = HitTarget { stack, band: Some(band) };
            if chart.stacks.value(band, stack) > 0.0 {
                let (x, y) = scene.center_of(pointed);
                prop_assert_eq!(scene.hit(x, y), Some(pointed));
            }
        }
    }

    /// Arbitrary values are painted without panicking.
    #[test]
    fn anything_is_painted(values in prop::collection::vec(prop::collection::vec(any::<f64>(), 3), 0..4)) {
        let chart = chart(&values);
        for form in Form::ALL {
            let mut scene = scene(&chart, form);
            scene.pointed = scene.hit(100.0, 50.0);
            prop_assert!(!painted(&scene).is_empty());
        }
    }
}
