//! Paints the timeline as text.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses its part of this module"
)]

use analysis::timeline::flow::Arrow;
use analysis::timeline::thread_lane::ThreadListRow;
use eventlog::ids::Nanos;
use eventlog::{Need, Step};
use model::time::Interval;
use scene::painter::TextPainter;
use scene::palette::Palette;
use scene::viewport::Viewport;
use session::Session;
use session::tracks::item::{Marks, Names};
use session::tracks::{TimelineQuery, TrackId, TrackListInput};
use views::notes::Notes;
use views::timeline::arrange::{TrackView, arrange};
use views::timeline::layout::{Layout, Track};
use views::timeline::{Focus, Scene};

/// Names without any thread or message name.
#[derive(Debug)]
pub struct NoNames;

impl Names for NoNames {}

/// Reads a log in steps of `max_events` events, as far as it can be read; the log may be damaged.
pub fn open_bytes(bytes: &[u8], max_events: usize) -> Session {
    let mut session = Session::new(bytes.len() as u64);
    loop {
        match session.advance(max_events) {
            Ok(Step::Need(needs)) => {
                for Need(range) in needs {
                    let piece = &bytes[range.start as usize..range.end as usize];
                    session.supply(range.start, piece);
                }
            }
            Ok(Step::More | Step::Indexed) => {}
            Ok(Step::Done) | Err(_) => return session,
        }
    }
}

/// Arranges the tracks of a log with `threads`, out of `in_all` threads.
pub fn tracks(
    session: &Session,
    (threads, in_all): (&[ThreadListRow], usize),
    view: &TrackView,
) -> Vec<Track> {
    let overview = session.overview();
    let caps = overview.caps.iter();
    let caps: Vec<_> = caps.map(|life| (life.cap, String::new())).collect();
    let known = TrackListInput {
        caps: &caps,
        contents: &overview.contents,
        threads,
        pinned_threads: &[],
        threads_in_all: in_all as u64,
    };
    arrange(&known, view)
}

/// Returns the times of the first and the last event.
pub fn whole(session: &Session) -> (u64, u64) {
    let log = session.overview().span.expect("events");
    (log.start().0, log.end().0)
}

/// Asks for the marks of `rows` in a range at `width_px`.
pub fn ask(session: &Session, rows: &[TrackId], (from, to): (u64, u64), width_px: u32) -> Marks {
    let query = TimelineQuery {
        view: Interval::new(Nanos(from), Nanos(to)),
        width_px,
        rows: rows.to_vec(),
        ..TimelineQuery::default()
    };
    Marks {
        view: Some(query.view),
        rows: rows.to_vec(),
        reply: session.ask(&query),
    }
}

/// Returns the viewport of a range, or of the whole log.
pub fn view(session: &Session, range: Option<(u64, u64)>) -> Viewport {
    let log = session.overview().span.expect("events");
    let mut view = Viewport::new(log, 584.0);
    if let Some((from, to)) = range {
        view.show_exactly(Interval::new(Nanos(from), Nanos(to)));
    }
    view
}

/// Paints the tracks of a layout.
pub fn paint(
    session: &Session,
    layout: &Layout,
    view: Viewport,
    names: &dyn Names,
    arrows: &[Arrow],
) -> String {
    let rows: Vec<TrackId> = layout
        .tracks()
        .iter()
        .filter_map(|track| track.row())
        .collect();
    let span = view.span();
    let mut painter = TextPainter::default();
    Scene {
        layout,
        scroll_px: 0.0,
        size: (800.0, 400.0),
        view,
        palette: &Palette::LIGHT,
        patterns: false,
        caps: session.overview().caps.len(),
        marks: &ask(session, &rows, (span.start().0, span.end().0), 584),
        overview: &Marks::default(),
        names,
        notes: &Notes::default(),
        focus: Focus {
            arrows,
            ..Focus::default()
        },
    }
    .paint(&mut painter);
    painter.finish()
}
