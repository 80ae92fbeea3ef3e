//! The timeline as a picture: minimap, time axis, the tracks, what is in
//! them, selection and pointer. Only what is in view is painted; the cost is
//! that of its pixels.

pub mod arrange;
mod axis;
mod beyond;
mod flow;
mod labels;
pub mod layout;
pub mod legend;
pub mod lit;
mod minimap;
mod notes;
mod overlay;
pub mod picture;
pub mod reveal;

use crate::notes::Notes;
use crate::timeline::layout::{Layout, Track};
use crate::timeline::lit::Lit;
use analysis::timeline::flow::Arrow;
use eventlog::ids::Nanos;
use model::time::Interval;
use scene::painter::{Painter, Rect};
use scene::palette::Palette;
use scene::strip::Strip;
use scene::viewport::Viewport;
use session::tracks::item::{Item, Marks, Names, Shown};

pub(crate) use minimap::MINIMAP_PX;

/// Height of the time axis, in pixels.
pub(crate) const RULER_PX: f64 = 24.0;
/// Where the tracks begin.
pub const TOP_PX: f64 = MINIMAP_PX + RULER_PX;
/// Width of the labels at the left in a wide window.
pub(crate) const LABELS_PX: f64 = 216.0;
/// Width of the labels in a narrow one.
pub(crate) const NARROW_LABELS_PX: f64 = 100.0;
/// Windows narrower than this are narrow.
pub(crate) const NARROW_PX: f64 = 640.0;

/// What is to be painted.
pub struct Scene<'a, N> {
    /// The tracks with their places.
    pub layout: &'a Layout,
    /// How far they are scrolled, in pixels.
    pub scroll_px: f64,
    /// Width and height of the whole picture.
    pub size: (f64, f64),
    /// The time in view.
    pub view: Viewport,
    /// The colours.
    pub palette: &'a Palette,
    /// Whether meaning is shown by patterns too.
    pub patterns: bool,
    /// How many capabilities there are: the scale of the activity.
    pub caps: usize,
    /// The marks at hand, perhaps of another view.
    pub marks: &'a Marks,
    /// The activity of the whole log, for the minimap.
    pub overview: &'a Marks,
    /// Names of threads.
    pub names: &'a N,
    /// Moments and ranges that the user has named.
    pub notes: &'a Notes,
    /// What is selected, pointed at, measured.
    pub focus: Focus<'a>,
}

/// What the user points at and has chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Focus<'a> {
    /// The selected range.
    pub range: Option<Interval>,
    /// The selected mark.
    pub selected: Option<&'a Item>,
    /// The mark under the pointer.
    pub hovered: Option<&'a Item>,
    /// Where the pointer is on the time axis.
    pub pointer: Option<Nanos>,
    /// The moment that was clicked, here or in a panel.
    pub cursor: Option<Nanos>,
    /// The two ends of a measure, in the order in which they were set.
    pub measure: Option<(Nanos, Nanos)>,
    /// How the thread that is pointed at or selected came to run.
    pub arrows: &'a [Arrow],
    /// What the open finding is about; all else is dimmed, unless there is none.
    pub lit: &'a [Lit],
}

impl<N> std::fmt::Debug for Scene<'_, N> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scene")
            .field("view", &self.view)
            .finish_non_exhaustive()
    }
}

/// How wide the labels are in a window of that width.
#[must_use]
pub const fn labels_px(window_px: f64) -> f64 {
    if window_px < NARROW_PX {
        NARROW_LABELS_PX
    } else {
        LABELS_PX
    }
}

impl<N: Names> Scene<'_, N> {
    fn labels_px(&self) -> f64 {
        labels_px(self.size.0)
    }

    /// Where a time stands in the picture.
    fn x(&self, time: Nanos) -> f64 {
        self.labels_px() + self.view.x_of(time)
    }

    /// The part of the picture with the tracks, without their names.
    fn body(&self) -> Rect {
        let (width, height) = self.size;
        let labels = self.labels_px();
        let size = ((width - labels).max(0.0), (height - TOP_PX).max(0.0));
        Rect::new(labels, TOP_PX, size.0, size.1)
    }

    /// Where the tracks begin that scroll.
    fn scrolled_top(&self) -> f64 {
        TOP_PX + self.layout.pinned_px()
    }

    /// Where a track begins in the picture.
    fn y(&self, index: usize) -> f64 {
        TOP_PX + self.layout.y(index, self.scroll_px)
    }

    /// Paints everything.
    pub fn paint(&self, painter: &mut dyn Painter) {
        self.paint_ground(painter);
        self.paint_still(painter);
        self.paint_focus(painter);
    }

    /// What lies under the tracks: the page, and the selected range.
    pub fn paint_ground(&self, painter: &mut dyn Painter) {
        let (width, height) = self.size;
        painter.fill(Rect::new(0.0, 0.0, width, height), self.palette.page.into());
        self.paint_time_lines(painter);
        self.paint_range(painter);
    }

    /// What stays as it is while one points and selects: nothing of it depends
    /// on the focus or on notes.
    pub fn paint_still(&self, painter: &mut dyn Painter) {
        let (width, height) = self.size;
        let pinned_px = self.layout.pinned_px();
        let top = self.scrolled_top();
        painter.clip(Rect::new(0.0, top, width, (height - top).max(0.0)));
        let tracks = self.layout.tracks();
        let mut pinned = false;
        for index in self.layout.seen(self.scroll_px, self.body().h) {
            let Some(track) = tracks.get(index) else {
                continue;
            };
            if track.pinned && !pinned {
                pinned = true;
                painter.unclip();
                painter.clip(Rect::new(0.0, TOP_PX, width, pinned_px));
            }
            self.paint_track(index, track, painter);
        }
        painter.unclip();
        self.paint_beyond(painter);
        if pinned_px > 0.0 {
            let line = Rect::new(0.0, top - 1.0, width, 2.0);
            painter.fill(line, self.palette.line.into());
        }
        self.paint_ruler(painter);
        self.paint_minimap(painter);
    }

    /// What lies over the tracks: the window on the minimap, notes, and what
    /// the user points at and has chosen.
    pub fn paint_focus(&self, painter: &mut dyn Painter) {
        self.paint_minimap_window(painter);
        self.paint_notes(painter);
        self.paint_overlay(painter);
    }

    fn paint_track(&self, index: usize, track: &Track, painter: &mut dyn Painter) {
        let y = self.y(index);
        let body = self.body();
        let area = Rect::new(body.x, y, body.w, track.height());
        if let Some(row) = track.row() {
            painter.clip(area);
            let shown = Shown {
                marks: self.marks,
                names: self.names,
                caps: self.caps,
            };
            row.paint(&shown, &self.strip(area), painter);
            painter.unclip();
        }
        self.paint_label(track, area, painter);
    }

    /// The strip of a track with that area.
    const fn strip(&self, area: Rect) -> Strip<'_> {
        Strip {
            area,
            view: self.view,
            palette: self.palette,
            patterns: self.patterns,
        }
    }

    /// Whether a line is the heading of others.
    const fn is_heading(track: &Track) -> bool {
        track.row().is_none()
    }
}
