//! Highlights of a finding: its places are outlined and everything else is dimmed.

use super::Scene;
use crate::timeline::layout::Track;
use insight::finding::{Evidence, Subject};
use model::sorting::CompactSort;
use model::time::Interval;
use scene::painter::{Painter, Rect};
use session::tracks::TrackId;
use session::tracks::capability::Capability;
use session::tracks::collections::Collections;
use session::tracks::thread::Thread;

/// Highlighted stretch of one track, or of all tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Highlight {
    /// Highlighted track; `None` for all tracks.
    pub row: Option<TrackId>,
    /// Highlighted time.
    pub span: Interval,
}

impl Highlight {
    /// Returns the highlights for a place of a finding: one per subject, or one for all tracks if it has no
    /// subject.
    pub fn from_evidence(place: &Evidence) -> impl Iterator<Item = Self> + '_ {
        let rows = place
            .subjects
            .iter()
            .map(|subject| Some(track_of(*subject)));
        let nobody = place.subjects.is_empty().then_some(None);
        let span = place.range;
        rows.chain(nobody).map(move |row| Self { row, span })
    }
}

/// Returns the track of a finding's subject.
pub fn track_of(subject: Subject) -> TrackId {
    match subject {
        Subject::Thread(thread) => Thread(thread).into(),
        Subject::Capability(cap) => Capability(cap).into(),
        Subject::Collection(_) => Collections.into(),
    }
}

/// Opacity of the page color over everything that is not highlighted.
const DIM: f64 = 0.6;
/// Minimum width of an outline, so that instants are visible too, in pixels.
const MIN_PX: f64 = 5.0;
const LINE_PX: f64 = 2.0;

impl Scene<'_> {
    pub(super) fn paint_highlights(&self, painter: &mut dyn Painter) {
        if self.focus.highlight.is_empty() {
            return;
        }
        for index in self.layout.visible_tracks(self.scroll_px, self.body().h) {
            let track = self.layout.tracks().get(index);
            if let Some((track, row)) = track.and_then(|track| Some((track, track.row()?))) {
                self.paint_highlighted_row(track, row, self.y(index), painter);
            }
        }
    }

    fn paint_highlighted_row(
        &self,
        track: &Track,
        row: TrackId,
        y: f64,
        painter: &mut dyn Painter,
    ) {
        let top = self.visible_top(track);
        let body = self.body();
        let area = Rect::new(body.x, y.max(top), body.w, y + track.height() - y.max(top));
        if area.h <= 0.0 {
            return;
        }
        let highlight = self.focus.highlight.iter();
        let here = highlight.filter(|highlight| highlight.row.is_none_or(|of| of == row));
        let mut bright: Vec<(f64, f64, bool)> = here
            .map(|highlight| {
                let (from, to) = (self.x(highlight.span.start()), self.x(highlight.span.end()));
                let more = (MIN_PX - (to - from)).max(0.0) / 2.0;
                (from - more, to + more, highlight.row.is_some())
            })
            .collect();
        bright.sort_small_by(|a, b| a.0.total_cmp(&b.0));
        let dim = self.palette.page.alpha(DIM);
        let mut at = area.x;
        for &(from, to, _) in &bright {
            let until = from.clamp(at, area.x + area.w);
            painter.fill(Rect::new(at, area.y, until - at, area.h), dim);
            at = to.clamp(at, area.x + area.w);
        }
        let rest = Rect::new(at, area.y, area.x + area.w - at, area.h);
        painter.fill(rest, dim);
        for (from, to, _) in bright.into_iter().filter(|&(.., named)| named) {
            let (x, width) = (from - LINE_PX / 2.0, to - from + LINE_PX);
            let around = Rect::new(x, y + 1.0, width, track.height() - 3.0);
            painter.clip(area);
            Self::paint_frame(around, LINE_PX, self.palette.accent.into(), painter);
            painter.unclip();
        }
    }
}
