//! Tests of the state machine with plain input and output: two capabilities over 1 ms, each with a run from 100 to
//! 300 µs and one from 600 to 610 µs, in a window with 1,000 pixels right of the labels.

use super::gestures::{Press, Wheel};
use super::*;
use crate::notes::Notes;
use crate::timeline::arrange::tests::input;
use crate::timeline::arrange::{TrackView, arrange};
use crate::timeline::{LABELS_PX, MINIMAP_PX, TOP_PX};
use model::class::StopCode;
use model::marks::{MarkWriter, NewSpan, TimelineReply};
use scene::painter::TextPainter;
use scene::palette::Palette;
use session::tracks::activity::Activity;
use session::tracks::capability::{Capability, RunPayload};
use session::tracks::{LogContents, TimelineQuery, TrackEntry};

const LOG: Interval = Interval::new(Nanos(0), Nanos(1_000_000));
const LONG: Interval = Interval::new(Nanos(100_000), Nanos(300_000));
const SHORT: Interval = Interval::new(Nanos(600_000), Nanos(610_000));
/// Vertical centers of the tracks on the canvas.
const CAP0: f64 = TOP_PX + 119.0;
const CAP1: f64 = TOP_PX + 149.0;

/// Returns the marks that a query asks for.
fn reply(query: &TimelineQuery) -> TimelineReply {
    let mut writer = MarkWriter {
        view: query.view,
        bucket_ns: 1,
        end: LOG.end(),
        row: 0,
        reply: TimelineReply::default(),
    };
    for (number, row) in (0..).zip(&query.rows) {
        writer.row = number;
        for span in [LONG, SHORT] {
            if row.cap().is_some() {
                writer.span(NewSpan {
                    many: false,
                    class: Class::Running,
                    start: span.start().0,
                    end: span.end().0,
                    count: 1,
                    shares: [0.0; model::class::CLASSES],
                    payload: RunPayload {
                        thread: Some(ThreadId(7)),
                        stop: StopCode(0),
                    },
                });
            }
        }
    }
    writer.reply
}

fn cap(number: u16) -> TrackId {
    Capability(CapId(number)).into()
}

/// Delivers the marks of the current view.
fn answer(control: &mut Control) -> Vec<TimelineEvent> {
    let query = control.marks_query();
    let reply = reply(&query);
    control.receive_marks(query, reply)
}

fn open() -> Control {
    let contents = LogContents {
        tracks: vec![TrackEntry::new(Activity, "Activity")],
        ..LogContents::default()
    };
    let caps = [(CapId(0), String::new()), (CapId(1), String::new())];
    let known = input(&caps, &contents, &[]);
    let mut control = Control::default();
    control.resize((LABELS_PX + 1000.0, 600.0));
    control.set_log(LOG, Rc::default(), []);
    control.set_layout(Rc::new(Layout::new(arrange(&known, &TrackView::default()))));
    assert_eq!(control.track_at(CAP0), control.layout.find(cap(0)));
    assert_eq!(control.track_at(CAP1), control.layout.find(cap(1)));
    answer(&mut control);
    control
}

/// Returns the canvas position of a time.
fn x(control: &Control, us: u64) -> f64 {
    LABELS_PX + control.view.x_of(Nanos(us * 1000))
}

fn press(at: (f64, f64)) -> Press {
    Press {
        id: 1,
        at,
        touch: false,
        pan: false,
        measure: false,
    }
}

/// Presses at one point, moves in two steps, and releases at another point.
fn drag(control: &mut Control, press: Press, to: (f64, f64)) {
    control.press(press);
    let middle = f64::midpoint(press.at.0, to.0);
    control.point(press.id, middle, to.1);
    control.point(press.id, to.0, to.1);
    control.release(press.id, to.0, to.1);
}

/// Returns the distance between two times, in microseconds.
fn apart_us(a: Nanos, b: u64) -> u64 {
    a.0.abs_diff(b * 1000) / 1000
}

#[test]
fn the_wheel_zooms_at_the_pointer_and_moves_sideways() {
    let mut control = open();
    let at = x(&control, 400);
    let zoom = Wheel {
        x: at,
        dy: -500.0,
        ..Wheel::default()
    };
    let events = control.wheel(zoom).expect("the timeline's");
    assert!(events.contains(&TimelineEvent::ViewChanged));
    assert!((x(&control, 400) - at).abs() < 0.01);
    assert!(control.visible().is_some());
    let before = control.view.span().start();
    let aside = Wheel {
        x: at,
        dx: 50.0,
        ..Wheel::default()
    };
    control.wheel(aside).expect("the timeline's");
    assert!(control.view.span().start() > before);
    // Over the labels, and with Shift, the tracks scroll.
    let names = Wheel { x: 10.0, ..zoom };
    let shift = Wheel {
        shift: true,
        ..zoom
    };
    assert_eq!((control.wheel(names), control.wheel(shift)), (None, None));
}

#[test]
fn a_drag_selects_from_edge_to_edge_and_a_click_beside_drops_it() {
    let mut control = open();
    // Three pixels from the edges of the long run: both ends snap to them.
    let (from, to) = (x(&control, 100) + 3.0, x(&control, 300) - 3.0);
    drag(&mut control, press((from, CAP0)), (to, CAP0));
    assert_eq!(control.range(), Some(LONG));
    // Outside of tracks nothing snaps.
    let below = TOP_PX + 400.0;
    let from = x(&control, 500);
    drag(&mut control, press((from, below)), (from + 100.0, below));
    let range = control.range().expect("a range");
    assert!(apart_us(range.start(), 500) <= 1 && range.duration().0 > 90_000);
    // Dragging the right edge leaves the left one in place.
    let (edge, to) = (x(&control, range.end().0 / 1000), x(&control, 900));
    assert_eq!(control.pointer_shape(edge, below), "ew-resize");
    drag(&mut control, press((edge, below)), (to, below));
    let wider = control.range().expect("a range");
    assert_eq!(wider.start(), range.start());
    assert!(apart_us(wider.end(), 900) <= 1);
    let next_to = x(&control, 450);
    drag(&mut control, press((next_to, CAP0)), (next_to + 1.0, CAP0));
    assert_eq!(control.range(), None);
}

#[test]
fn a_click_selects_what_is_there() {
    let mut control = open();
    let at = (x(&control, 200), CAP1);
    control.press(press(at));
    let events = control.release(1, at.0, at.1);
    let row = cap(1);
    assert_eq!(control.selected(), Some((row, LONG)));
    assert_eq!(control.cursor(), Some(LONG.start()));
    let place = ClickPosition {
        time: LONG.start(),
        cap: Some(CapId(1)),
    };
    assert!(events.contains(&TimelineEvent::Clicked(place)));
    assert!(
        events
            .iter()
            .any(|one| matches!(one, TimelineEvent::Pinned(Some(_))))
    );
    assert_eq!(control.track(), Some(&TrackName::capability(CapId(1))));
    // Escape undoes one thing after the other, then nothing.
    assert!(control.escape().is_some());
    assert_eq!(control.selected(), None);
    assert!(control.escape().is_some());
    assert_eq!(control.cursor(), None);
    assert_eq!(control.escape(), None);
}

#[test]
fn fingers_move_and_pinch_and_select_after_a_rest() {
    let mut control = open();
    control.gesture(|view| view.show_exactly(LONG));
    let finger = |id, at| Press {
        id,
        touch: true,
        ..press(at)
    };
    let first = finger(1, (700.0, CAP0));
    assert!(control.press(first).contains(&TimelineEvent::Hold(first)));
    let before = control.view.span();
    control.point(1, 650.0, CAP0);
    assert!(control.view.span().start() > before.start() && control.range().is_none());
    // A second finger goes down, and moves away from the first.
    control.press(finger(2, (850.0, CAP0)));
    let width = control.view.width_ns();
    control.point(2, 1050.0, CAP0);
    assert!((control.view.width_ns() - width / 2.0).abs() < 1.0);
    control.release(2, 1050.0, CAP0);
    control.release(1, 650.0, CAP0);
    assert_eq!(
        control.selected(),
        None,
        "what remains of a pinch is no click"
    );
    let rest = finger(3, (500.0, TOP_PX + 400.0));
    control.press(rest);
    control.long_press(rest);
    let view = control.view.span();
    control.point(3, 600.0, TOP_PX + 400.0);
    assert_eq!(control.view.span(), view, "it selects, and does not move");
    assert!(control.range().is_some());
    control.abort(3);
    assert!(!control.is_dragging());
}

#[test]
fn alt_measures_and_shift_moves() {
    let mut control = open();
    control.gesture(|view| view.show_exactly(LONG));
    let at = (500.0, TOP_PX + 400.0);
    let measure = Press {
        measure: true,
        ..press(at)
    };
    drag(&mut control, measure, (600.0, at.1));
    let (from, to) = control.focus.measure.expect("a measure");
    assert!(to > from && control.range().is_none());
    let view = control.view.span();
    let pan = Press {
        pan: true,
        ..press(at)
    };
    drag(&mut control, pan, (400.0, at.1));
    assert!(control.view.span().start() > view.start());
    assert_eq!(control.range(), None);
}

#[test]
fn the_minimap_is_taken_or_jumped_to() {
    let mut control = open();
    // The minimap spans the whole log.
    let (far, near) = (x(&control, 800), x(&control, 700));
    let y = MINIMAP_PX / 2.0;
    control.gesture(|view| view.show_exactly(LONG));
    control.press(press((far, y)));
    let middle = control.view.span();
    let middle = middle.middle();
    assert!(apart_us(middle, 800) <= 1, "beside the view: it comes");
    control.point(1, near, y);
    let moved = control.view.span();
    assert!(apart_us(moved.middle(), 700) <= 1);
    control.release(1, near, y);
    assert_eq!(control.selected(), None);
}

#[test]
fn the_keyboard_walks_items_and_tracks() {
    let mut control = open();
    control.set_track(&TrackName::capability(CapId(0)));
    let row = cap(0);
    control.step(true);
    assert_eq!(control.selected(), Some((row, LONG)));
    control.step(true);
    assert_eq!(control.selected(), Some((row, SHORT)));
    control.step(true);
    assert_eq!(control.selected(), Some((row, SHORT)), "it is the last");
    control.step(false);
    assert_eq!(control.selected(), Some((row, LONG)));
    let events = control.step_track(true);
    let below = TrackName::capability(CapId(1));
    assert!(events.contains(&TimelineEvent::TrackFocused(Some(below))));
    assert_eq!(control.selected(), Some((cap(1), LONG)));
}

#[test]
fn keys_pressed_before_the_marks_of_a_track_act_once_they_are_there() {
    let mut control = open();
    control.set_track(&TrackName::capability(CapId(0)));
    control.receive_marks(TimelineQuery::default(), TimelineReply::default());
    control.step_track(true);
    assert!(control.step(true).is_empty() && control.pin_details().is_empty());
    assert_eq!(control.selected(), None);
    let events = answer(&mut control);
    assert_eq!(
        control.selected(),
        Some((cap(1), SHORT)),
        "the first, and a step"
    );
    let details = |event: &TimelineEvent| matches!(event, TimelineEvent::Pinned(Some(_)));
    assert!(events.iter().any(details));
    // It was done once.
    answer(&mut control);
    assert_eq!(control.selected(), Some((cap(1), SHORT)));
    // The focus came by a click on the track's head.
    control.receive_marks(TimelineQuery::default(), TimelineReply::default());
    control.set_track(&TrackName::capability(CapId(0)));
    control.step(true);
    answer(&mut control);
    assert_eq!(
        control.selected(),
        Some((cap(0), SHORT)),
        "nearest to the cursor"
    );
    // A selection meanwhile is what counts.
    control.receive_marks(TimelineQuery::default(), TimelineReply::default());
    control.step_track(false);
    control.step(true);
    control.select(None);
    answer(&mut control);
    assert_eq!(control.selected(), None);
}

#[test]
fn what_a_panel_leads_to_is_selected_when_its_marks_come() {
    let mut control = open();
    control.gesture(|view| view.show_exactly(Interval::new(Nanos(0), Nanos(50_000))));
    let row = cap(1);
    let events = control.navigate(NavigationTarget::zoomed(Some(row), SHORT));
    assert!(events.contains(&TimelineEvent::ViewChanged));
    assert_eq!(control.selected(), None, "the marks are of another view");
    assert!(control.awaits_item());
    assert!(
        control.view.span().start() <= SHORT.start() && SHORT.end() <= control.view.span().end()
    );
    answer(&mut control);
    assert_eq!(control.selected(), Some((row, SHORT)));
    assert!(!control.awaits_item());
    // Going to a track below the window scrolls.
    control.resize((LABELS_PX + 1000.0, TOP_PX + 120.0));
    let events = control.navigate(NavigationTarget::item(row, LONG));
    assert!(
        events
            .iter()
            .any(|one| matches!(one, TimelineEvent::Scroll(px) if *px > 0.0))
    );
}

#[test]
fn a_view_of_a_link_is_shown_with_its_item() {
    let mut control = open();
    let row = cap(0);
    let visible = Some(Interval::new(Nanos(50_000), Nanos(650_000)));
    control.show_view(visible, Some(LONG), Some((row, SHORT.start())));
    assert_eq!((control.visible(), control.range()), (visible, Some(LONG)));
    answer(&mut control);
    assert_eq!(control.selected(), Some((row, SHORT)));
    control.show_view(None, None, None);
    assert_eq!((control.visible(), control.selected()), (None, None));
    let events = control.reset();
    assert!(events.contains(&TimelineEvent::Range(None)));
    assert_eq!(control.size(), (LABELS_PX + 1000.0, 600.0));
}

/// Returns the painted tracks, without the layers below and above them.
fn tracks(control: &Control) -> Vec<String> {
    let mut painter = TextPainter::default();
    let notes = Notes::default();
    control
        .scene(&Palette::LIGHT, false, &notes)
        .paint_base(&mut painter);
    painter.lines
}

#[test]
fn arrows_are_those_of_the_item_or_of_all_its_thread() {
    let mut control = open();
    let at = (x(&control, 200), CAP0);
    control.press(press(at));
    control.release(1, at.0, at.1);
    assert_eq!(control.selected(), Some((cap(0), LONG)));
    let asked = |control: &mut Control| control.flow_query().map(|query| query.view);
    assert_eq!(asked(&mut control), Some(LONG));
    let events = control.show_all_wakeups();
    let says = |events: &TimelineEvent| matches!(events, TimelineEvent::Pinned(Some(it)) if it.all_wakeups == Some(true));
    assert!(events.iter().any(says), "{events:?}");
    assert_eq!(asked(&mut control), Some(control.viewport().span()));
    control.show_all_wakeups();
    assert_eq!(asked(&mut control), Some(LONG));
}

#[test]
fn what_is_explained_stays_in_view_when_the_details_take_room() {
    let mut control = open();
    let at = (x(&control, 200), CAP1);
    control.press(press(at));
    control.release(1, at.0, at.1);
    let width = control.size().0;
    let events = control.resize((width, TOP_PX + 40.0));
    assert!(
        events
            .iter()
            .any(|events| matches!(events, TimelineEvent::Scroll(px) if *px > 0.0)),
        "{events:?}"
    );
    assert_eq!(control.resize((width, TOP_PX + 400.0)), []);
}

#[test]
fn the_tracks_stay_as_they_are_while_one_points_and_selects() {
    let mut control = open();
    let (repaint_key, before) = (control.repaint_key(), tracks(&control));
    control.point(1, x(&control, 200), CAP0);
    let (from, to) = (x(&control, 50), x(&control, 500));
    drag(&mut control, press((from, CAP0)), (to, CAP1));
    control.measure();
    assert!(control.range().is_some() && control.pointer_at().is_some());
    assert_eq!(control.repaint_key(), repaint_key);
    assert_eq!(tracks(&control), before);
}

#[test]
fn whatever_changes_the_tracks_is_noticed() {
    let changes: [fn(&mut Control); 7] = [
        |control| drop(control.zoom(2.0)),
        |control| drop(control.scroll(10.0)),
        |control| drop(control.resize((900.0, 400.0))),
        |control| drop(control.set_layout(Rc::default())),
        |control| drop(control.receive_marks(TimelineQuery::default(), TimelineReply::default())),
        |control| control.receive_labels([(ThreadId(1), "main".to_owned())]),
        |control| drop(control.reset()),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let mut control = open();
        let repaint_key = control.repaint_key();
        change(&mut control);
        assert_ne!(control.repaint_key(), repaint_key, "change {number}");
    }
}

proptest::proptest! {
    /// Each view that the user reaches, those at the ends of the log among them, is the same again when it is restored.
    #[test]
    fn a_view_that_is_restored_is_the_same_view(
        (start, length) in (0_u64..2_000_000_000_000, 1_000_u64..2_000_000_000_000),
        width in 100_u32..3000,
        zooms in 1..12_usize,
        pan in proptest::sample::select(vec![-1e9, -123.4, 0.0, 56.7, 1e9]),
    ) {
        let log = Interval::new(Nanos(start), Nanos(start + length));
        let mut control = Control::default();
        control.resize((LABELS_PX + f64::from(width), 600.0));
        control.set_log(log, Rc::default(), []);
        for _ in 0..zooms {
            control.gesture(|view| view.zoom(1.3, 40.0));
        }
        control.gesture(|view| view.pan(pan));
        let visible = control.visible();
        control.fit();
        control.show_view(visible, None, None);
        proptest::prop_assert_eq!(control.visible(), visible);
    }
}

#[test]
fn a_drag_that_ends_where_it_began_selects_no_range() {
    let mut control = open();
    let start = x(&control, 400);
    control.press(press((start, CAP0)));
    control.point(1, start + 60.0, CAP0);
    control.point(1, start, CAP0);
    control.release(1, start, CAP0);
    assert_eq!(control.range(), None);
}

#[test]
fn panels_on_the_same_axis_hear_of_a_drag_while_it_lasts() {
    let mut control = open();
    control.gesture(|view| view.zoom(4.0, 500.0));
    let at = (x(&control, 500), CAP0);
    control.press(Press {
        pan: true,
        ..press(at)
    });
    let events = control.point(1, at.0 - 50.0, CAP0);
    assert!(events.contains(&TimelineEvent::ViewChanged), "{events:?}");
}

#[test]
fn a_selected_item_grows_with_the_log() {
    let mut control = open();
    let at = x(&control, 200);
    control.press(press((at, CAP0)));
    control.release(1, at, CAP0);
    assert_eq!(control.selected(), Some((cap(0), LONG)));
    if let Some(item) = &mut control.focus.selected {
        item.span = Interval::new(LONG.start(), Nanos(150_000));
    }
    answer(&mut control);
    assert_eq!(control.selected(), Some((cap(0), LONG)));
}

#[test]
fn an_item_that_is_selected_once_its_marks_come_counts_as_selected() {
    let mut control = open();
    control.show_view(
        Some(Interval::new(Nanos(50_000), Nanos(400_000))),
        None,
        Some((cap(0), Nanos(150_000))),
    );
    assert_eq!(control.selected(), None);
    assert_eq!(
        control.selected_or_pending(),
        Some((cap(0), Nanos(150_000)))
    );
    // A click elsewhere ends the wait.
    let at = x(&control, 70);
    control.press(press((at, CAP1)));
    control.release(1, at, CAP1);
    assert_eq!(control.selected_or_pending(), None);
}
