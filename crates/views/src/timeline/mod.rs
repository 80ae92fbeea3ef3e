//! Painting of the timeline: minimap, time axis, tracks with their contents, selection and pointer.
//!
//! Only visible content is painted, so the cost depends on the number of pixels.

pub mod arrange;
mod axis;
mod flow;
pub mod highlight;
mod labels;
pub mod layout;
pub mod legend;
mod minimap;
mod notes;
mod outside_log;
mod overlay;
pub mod picture;
pub mod reveal;

use crate::notes::Notes;
use crate::timeline::highlight::Highlight;
use crate::timeline::layout::{Layout, Track};
use analysis::timeline::flow::Arrow;
use eventlog::ids::Nanos;
use model::time::Interval;
use scene::painter::{Paint, Painter, Rect};
use scene::palette::Palette;
use scene::strip::Strip;
use scene::viewport::Viewport;
use session::tracks::item::{Item, Marks, Names, PaintInput};

pub(crate) use minimap::MINIMAP_PX;

/// Height of the time axis, in pixels.
pub(crate) const RULER_PX: f64 = 24.0;
/// Vertical offset of the first track: minimap and time axis lie above it, in pixels.
pub const TOP_PX: f64 = MINIMAP_PX + RULER_PX;
/// Width of the track labels in a wide window, in pixels.
pub(crate) const LABELS_PX: f64 = 216.0;
/// Width of the track labels in a narrow window, in pixels.
pub(crate) const NARROW_LABELS_PX: f64 = 100.0;
/// Windows below this width count as narrow, in pixels.
pub(crate) const NARROW_PX: f64 = 640.0;

/// Input of the timeline painter.
#[derive(Debug)]
pub struct Scene<'a> {
    /// Tracks with their vertical positions.
    pub layout: &'a Layout,
    /// Scroll offset of the tracks, in pixels.
    pub scroll_px: f64,
    /// Width and height of the whole picture, in CSS pixels.
    pub size: (f64, f64),
    /// Visible time.
    pub view: Viewport,
    /// Color theme.
    pub palette: &'a Palette,
    /// Whether patterns supplement colors.
    pub patterns: bool,
    /// Number of capabilities: the scale of the activity.
    pub caps: usize,
    /// Loaded marks, possibly of an earlier view.
    pub marks: &'a Marks,
    /// Activity of the whole log, for the minimap.
    pub overview: &'a Marks,
    /// Resolver of names, such as thread labels.
    pub names: &'a dyn Names,
    /// Instants and ranges that the user has named.
    pub notes: &'a Notes,
    /// Selection, hover and measurement.
    pub focus: Focus<'a>,
}

/// Pointer and selection state, as painted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Focus<'a> {
    /// Selected range.
    pub range: Option<Interval>,
    /// Selected mark.
    pub selected: Option<&'a Item>,
    /// Mark under the pointer.
    pub hovered: Option<&'a Item>,
    /// Time at the pointer.
    pub pointer: Option<Nanos>,
    /// Time that was last clicked, here or in a panel.
    pub cursor: Option<Nanos>,
    /// Both ends of a measurement, in the order in which they were set.
    pub measure: Option<(Nanos, Nanos)>,
    /// Wakeups and migrations that led the hovered or selected thread to run.
    pub arrows: &'a [Arrow],
    /// Highlights of the open finding; all else is dimmed. Empty for no highlighting.
    pub highlight: &'a [Highlight],
}

/// Returns the width of the track labels for a window width, in pixels.
pub const fn labels_px(window_px: f64) -> f64 {
    if window_px < NARROW_PX {
        NARROW_LABELS_PX
    } else {
        LABELS_PX
    }
}

impl Scene<'_> {
    fn labels_px(&self) -> f64 {
        labels_px(self.size.0)
    }

    /// Returns the horizontal position of a time, in pixels.
    fn x(&self, time: Nanos) -> f64 {
        self.labels_px() + self.view.x_of(time)
    }

    /// Returns the area of the tracks, without their labels.
    fn body(&self) -> Rect {
        let (width, height) = self.size;
        let labels = self.labels_px();
        let size = ((width - labels).max(0.0), (height - TOP_PX).max(0.0));
        Rect::new(labels, TOP_PX, size.0, size.1)
    }

    /// Returns the vertical offset of the scrolling tracks, below the pinned ones.
    fn scrolled_top(&self) -> f64 {
        TOP_PX + self.layout.pinned_px()
    }

    /// Returns the top of the area in which a track is visible.
    fn visible_top(&self, track: &Track) -> f64 {
        if track.pinned {
            TOP_PX
        } else {
            self.scrolled_top()
        }
    }

    /// Returns the vertical offset of a track, in pixels.
    fn y(&self, index: usize) -> f64 {
        TOP_PX + self.layout.y(index, self.scroll_px)
    }

    /// Paints all layers, from bottom to top.
    pub fn paint(&self, painter: &mut dyn Painter) {
        self.paint_ground(painter);
        self.paint_base(painter);
        self.paint_focus(painter);
    }

    /// Paints the layer below the tracks: the page background, the time grid and the selected range.
    pub fn paint_ground(&self, painter: &mut dyn Painter) {
        let (width, height) = self.size;
        painter.fill(Rect::new(0.0, 0.0, width, height), self.palette.page.into());
        self.paint_time_lines(painter);
        self.paint_range(painter);
    }

    /// Paints the layer that depends neither on the focus nor on notes, so that pointing and selecting leave it
    /// unchanged.
    pub fn paint_base(&self, painter: &mut dyn Painter) {
        let (width, height) = self.size;
        let pinned_px = self.layout.pinned_px();
        let top = self.scrolled_top();
        painter.clip(Rect::new(0.0, top, width, (height - top).max(0.0)));
        let tracks = self.layout.tracks();
        let mut pinned = false;
        for index in self.layout.visible_tracks(self.scroll_px, self.body().h) {
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
        self.paint_outside_log(painter);
        if pinned_px > 0.0 {
            let line = Rect::new(0.0, top - 1.0, width, 2.0);
            painter.fill(line, self.palette.line.into());
        }
        self.paint_ruler(painter);
        self.paint_minimap(painter);
    }

    /// Paints the layer above the tracks: the minimap window, notes, selection and pointer.
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
            let shown = PaintInput {
                strip: self.strip(area),
                marks: self.marks,
                names: self.names,
                caps: self.caps,
            };
            row.paint(&shown, painter);
            painter.unclip();
        }
        self.paint_label(track, area, painter);
    }

    /// Returns the painting context of a track in this area.
    const fn strip(&self, area: Rect) -> Strip<'_> {
        Strip {
            area,
            view: self.view,
            palette: self.palette,
            patterns: self.patterns,
        }
    }

    /// Paints the four sides of a rectangle, whose width exceeds that of `around` by the width of a line.
    fn paint_frame(around: Rect, width: f64, paint: Paint, painter: &mut dyn Painter) {
        let (x0, x1) = (around.x, around.x + around.w);
        let (y0, y1) = (around.y, around.y + around.h);
        let corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)];
        for pair in corners.windows(2) {
            painter.line(pair[0], pair[1], width, paint);
        }
    }

    /// Returns whether the track is the heading of a group.
    const fn is_heading(track: &Track) -> bool {
        track.row().is_none()
    }
}
