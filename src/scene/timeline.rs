//! The timeline as a picture: the rows, what is in them, ruler, selection and
//! pointer. Only what is in view is painted; the cost is that of its pixels.

use super::colour::Rgb;
use super::format;
use super::item::{Item, Marks, Names};
use super::painter::{Align, Face, Paint, Painter, Rect};
use super::palette::Palette;
use super::ruler::ticks;
use super::viewport::Viewport;
use crate::automata::Span;
use crate::ids::{CapId, Nanos, ThreadId};
use crate::timeline::class::Class;
use crate::timeline::query::{MarkKind, MarkView, Row};

/// Height of the ruler, in pixels.
pub const RULER_PX: f64 = 24.0;
/// Width of the labels at the left in a wide window.
pub const LABELS_PX: f64 = 216.0;
/// Width of the labels in a narrow one.
pub const NARROW_LABELS_PX: f64 = 84.0;
/// Windows narrower than this are narrow.
pub const NARROW_PX: f64 = 640.0;

/// One row or heading of the timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// What it shows; `None` for a heading.
    pub row: Option<Row>,
    /// Its name.
    pub name: String,
    /// Its name in a narrow window.
    pub short: String,
    /// A short note at the right of the name.
    pub note: String,
}

impl Track {
    /// A heading of a group of tracks.
    #[must_use]
    pub fn heading(name: impl Into<String>, short: &str) -> Self {
        Self {
            row: None,
            name: name.into(),
            short: short.to_owned(),
            note: String::new(),
        }
    }

    /// A track.
    #[must_use]
    pub fn new(row: Row, name: impl Into<String>, note: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            row: Some(row),
            short: match row {
                Row::Cap(cap) => format!("Cap {cap}"),
                _ => name.clone(),
            },
            name,
            note: note.into(),
        }
    }

    /// Its height in pixels.
    #[must_use]
    pub const fn height(&self) -> f64 {
        match self.row {
            None => 24.0,
            Some(Row::Activity) => 56.0,
            Some(Row::Cap(_)) => 30.0,
            Some(Row::Thread(_) | Row::Messages) => 22.0,
        }
    }
}

/// What is to be painted.
pub struct Scene<'a, N> {
    /// All tracks.
    pub tracks: &'a [Track],
    /// How far the tracks are scrolled, in pixels.
    pub scroll_px: f64,
    /// Width and height of the whole picture.
    pub size: (f64, f64),
    /// The time in view.
    pub view: Viewport,
    /// The colours.
    pub palette: &'a Palette,
    /// The marks at hand, perhaps of another view.
    pub marks: &'a Marks,
    /// Names of threads.
    pub names: &'a N,
    /// The selected range.
    pub range: Option<Span>,
    /// The selected mark.
    pub selected: Option<&'a Item>,
    /// The mark under the pointer.
    pub hovered: Option<&'a Item>,
    /// Where the pointer is on the time axis.
    pub pointer: Option<Nanos>,
    /// The moment that was clicked, here or in a panel.
    pub cursor: Option<Nanos>,
    /// Whether garbage collection is hatched too.
    pub patterns: bool,
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

/// The colour of a class.
#[must_use]
pub const fn class_colour(palette: &Palette, class: Class) -> Rgb {
    match class {
        Class::Running | Class::Open => palette.running,
        Class::Gc => palette.gc,
        Class::Ready => palette.ready,
        Class::Blocked => palette.blocked,
        Class::Foreign => palette.foreign,
        Class::Io => palette.io,
    }
}

/// The tracks with the place of each from the top of the first.
pub fn placed(tracks: &[Track]) -> impl Iterator<Item = (f64, &Track)> {
    let mut y = 0.0;
    tracks.iter().map(move |track| {
        let top = y;
        y += track.height();
        (top, track)
    })
}

/// The height of all tracks.
#[must_use]
pub fn total_height(tracks: &[Track]) -> f64 {
    tracks.iter().map(Track::height).sum()
}

/// The track at a height, and where it begins.
#[must_use]
pub fn track_at(tracks: &[Track], y: f64) -> Option<(f64, &Track)> {
    placed(tracks).find(|(top, track)| *top <= y && y < top + track.height())
}

impl<N: Names> Scene<'_, N> {
    fn labels_px(&self) -> f64 {
        labels_px(self.size.0)
    }

    /// Where a time stands in the picture.
    fn x(&self, time: Nanos) -> f64 {
        self.labels_px() + self.view.x_of(time)
    }

    /// Paints everything.
    pub fn paint(&self, painter: &mut impl Painter) {
        let (width, height) = self.size;
        painter.fill(Rect::new(0.0, 0.0, width, height), self.palette.page.into());
        self.paint_range(painter);
        let body = Rect::new(0.0, RULER_PX, width, (height - RULER_PX).max(0.0));
        painter.clip(body);
        for (top, track) in placed(self.tracks) {
            let y = RULER_PX + top - self.scroll_px;
            if y + track.height() >= RULER_PX && y < height {
                self.paint_track(track, y, painter);
            }
        }
        painter.unclip();
        self.paint_ruler(painter);
        self.paint_overlay(painter);
    }

    fn paint_track(&self, track: &Track, y: f64, painter: &mut impl Painter) {
        let (width, labels) = (self.size.0, self.labels_px());
        let height = track.height();
        let area = Rect::new(labels, y, (width - labels).max(0.0), height);
        if let Some(row) = track.row {
            painter.clip(area);
            match row {
                Row::Activity => self.paint_activity(area, painter),
                Row::Cap(_) => self.paint_cap(row, area, painter),
                Row::Thread(_) => self.paint_thread(row, area, painter),
                Row::Messages => self.paint_messages(area, painter),
            }
            painter.unclip();
        }
        painter.fill(Rect::new(0.0, y, labels, height), self.palette.panel.into());
        painter.fill(
            Rect::new(0.0, y + height - 1.0, width, 1.0),
            self.palette.faint_line.into(),
        );
        painter.fill(
            Rect::new(labels - 1.0, y, 1.0, height),
            self.palette.line.into(),
        );
        self.paint_label(track, y + height / 2.0, painter);
    }

    fn paint_label(&self, track: &Track, middle: f64, painter: &mut impl Painter) {
        let labels = self.labels_px();
        let (face, paint) = match track.row {
            None => (Face::Heading, self.palette.ink2),
            Some(_) => (Face::Body, self.palette.ink),
        };
        let (name, note) = if labels < LABELS_PX {
            (track.short.as_str(), "")
        } else {
            (track.name.as_str(), track.note.as_str())
        };
        let note_px = if note.is_empty() {
            0.0
        } else {
            painter.measure(note, Face::Mono) + 8.0
        };
        let room = labels - 20.0 - note_px;
        let name = format::truncate_middle(name, room, |text| painter.measure(text, face));
        painter.text(&name, (12.0, middle), face, Align::Left, paint.into());
        if !note.is_empty() {
            let at = (labels - 9.0, middle);
            painter.text(note, at, Face::Mono, Align::Right, self.palette.ink3.into());
        }
    }

    /// The rectangle of a span in a row, at least a pixel wide.
    fn rect(&self, span: Span, y: f64, h: f64) -> Rect {
        let left = self.x(span.start).max(self.labels_px() - 2.0);
        let right = self.x(span.end).min(self.size.0 + 2.0);
        Rect::new(left, y, (right - left).max(1.0), h)
    }

    fn paint_cap(&self, row: Row, area: Rect, painter: &mut impl Painter) {
        let (y, h) = (area.y + 5.0, area.h - 10.0);
        for (mark, span) in self.marks.of(row) {
            let rect = self.rect(span, y, h);
            let colour = class_colour(self.palette, mark.class);
            match mark.kind {
                MarkKind::Many => self.paint_share(rect, mark.class, mark.shares, painter),
                _ => {
                    painter.fill(rect, colour.into());
                    if mark.class == Class::Open || (self.patterns && mark.class == Class::Gc) {
                        painter.hatch(rect, self.palette.page.alpha(0.5));
                    }
                    self.paint_name(&mark, rect, painter);
                }
            }
        }
    }

    /// Several spans in a bucket: the bar is as high as their share of it, so
    /// that a thin one does not look like a full one. Something is always seen.
    /// Running stands on the ground and collecting hangs from the top: they
    /// share the bucket and do not cover each other.
    fn paint_share(&self, rect: Rect, class: Class, shares: &[f32], painter: &mut impl Painter) {
        let share: f64 = shares.iter().map(|&share| f64::from(share)).sum();
        let h = (rect.h * share.min(1.0)).max(2.0);
        let y = if class == Class::Gc {
            rect.y
        } else {
            rect.y + rect.h - h
        };
        let bar = Rect::new(rect.x, y, rect.w, h);
        painter.fill(bar, class_colour(self.palette, class).into());
    }

    fn paint_name(&self, mark: &MarkView<'_>, rect: Rect, painter: &mut impl Painter) {
        let left = rect.x.max(self.labels_px());
        let room = rect.x + rect.w - left - 8.0;
        if room < 18.0 {
            return;
        }
        let name = match (mark.class, mark.detail) {
            (Class::Gc, _) => "GC".to_owned(),
            (_, Some(thread)) => {
                let label = self.names.label(ThreadId(thread)).map(str::to_owned);
                label.unwrap_or_else(|| format!("thread {thread}"))
            }
            (_, None) => return,
        };
        let name = format::truncate_middle(&name, room, |text| painter.measure(text, Face::Label));
        let at = (left + 4.0, rect.y + rect.h / 2.0 + 0.5);
        let ink = class_colour(self.palette, mark.class).text_on();
        painter.text(&name, at, Face::Label, Align::Left, ink.into());
    }

    /// A running thread is a full bar, one that does not run a thin line in
    /// the colour of its reason.
    fn paint_thread(&self, row: Row, area: Rect, painter: &mut impl Painter) {
        let middle = area.y + area.h / 2.0;
        for (mark, span) in self.marks.of(row) {
            if mark.kind == MarkKind::Many {
                self.paint_mixture(
                    self.rect(span, area.y + 5.0, area.h - 11.0),
                    mark.shares,
                    painter,
                );
                continue;
            }
            let colour = class_colour(self.palette, mark.class);
            if matches!(mark.class, Class::Running | Class::Open) {
                let rect = self.rect(span, area.y + 5.0, area.h - 11.0);
                painter.fill(rect, colour.into());
                if mark.class == Class::Open {
                    painter.hatch(rect, self.palette.page.alpha(0.5));
                }
            } else if span.start < span.end {
                painter.fill(self.rect(span, middle - 2.5, 4.0), colour.alpha(0.75));
            }
        }
    }

    /// Several spans of a thread: a line in the colour of the reason that it
    /// waits for most, and over it running, as high as its share.
    fn paint_mixture(&self, rect: Rect, shares: &[f32], painter: &mut impl Painter) {
        let share = |class: Class| shares.get(class as usize).copied().unwrap_or(0.0);
        let waiting = [Class::Ready, Class::Blocked, Class::Foreign, Class::Io];
        let most = waiting
            .into_iter()
            .max_by(|a, b| share(*a).total_cmp(&share(*b)));
        if let Some(class) = most.filter(|class| share(*class) > 0.0) {
            let line = Rect::new(rect.x, rect.y + rect.h / 2.0 - 2.0, rect.w, 4.0);
            painter.fill(line, class_colour(self.palette, class).alpha(0.75));
        }
        let running = f64::from(share(Class::Running) + share(Class::Open));
        if running > 0.0 {
            let h = (rect.h * running.min(1.0)).max(2.0);
            let bar = Rect::new(rect.x, rect.y + (rect.h - h) / 2.0, rect.w, h);
            painter.fill(bar, self.palette.running.into());
        }
    }

    fn caps(&self) -> f64 {
        let caps = self
            .tracks
            .iter()
            .filter(|track| matches!(track.row, Some(Row::Cap(_))));
        (caps.count() as f64).max(1.0)
    }

    /// How many capabilities run Haskell code, and on top how many collect.
    fn paint_activity(&self, area: Rect, painter: &mut impl Painter) {
        let (bottom, scale) = (area.y + area.h - 4.0, (area.h - 12.0) / self.caps());
        let mut running = Outline::new(bottom);
        let mut both = Outline::new(bottom);
        for (mark, span) in self.marks.of(Row::Activity) {
            let share =
                |class: Class| f64::from(mark.shares.get(class as usize).copied().unwrap_or(0.0));
            let (left, right) = (self.x(span.start), self.x(span.end));
            let run = share(Class::Running) * scale;
            running.step(left, right, run);
            both.step(left, right, run + share(Class::Gc) * scale);
        }
        for k in 1..=self.caps().min(8.0) as u32 {
            let y = bottom - scale * f64::from(k);
            painter.fill(
                Rect::new(area.x, y, area.w, 1.0),
                self.palette.faint_line.into(),
            );
        }
        painter.polygon(&both.finish(), self.palette.gc.into());
        painter.polygon(&running.finish(), Paint::from(self.palette.running));
    }

    fn paint_messages(&self, area: Rect, painter: &mut impl Painter) {
        let middle = area.y + area.h / 2.0;
        for (mark, span) in self.marks.of(Row::Messages) {
            let x = self.x(span.start);
            let marker = mark.kind == MarkKind::Marker;
            let colour = if marker {
                self.palette.accent
            } else {
                self.palette.ink2
            };
            painter.fill(
                Rect::new(x - 0.5, area.y + 3.0, 1.0, area.h - 7.0),
                colour.into(),
            );
            if marker {
                let flag = [
                    (x, area.y + 3.0),
                    (x + 7.0, area.y + 6.0),
                    (x, area.y + 9.0),
                ];
                painter.polygon(&flag, colour.into());
            } else {
                let dot = [
                    (x - 3.0, middle),
                    (x, middle - 3.0),
                    (x + 3.0, middle),
                    (x, middle + 3.0),
                ];
                painter.polygon(&dot, colour.into());
            }
        }
    }

    fn paint_ruler(&self, painter: &mut impl Painter) {
        let (width, labels) = (self.size.0, self.labels_px());
        painter.fill(
            Rect::new(0.0, 0.0, width, RULER_PX),
            self.palette.panel.into(),
        );
        painter.clip(Rect::new(
            labels,
            0.0,
            (width - labels).max(0.0),
            self.size.1,
        ));
        for tick in ticks(self.view.span(), self.view.width_px(), 90.0) {
            let x = self.x(tick.time);
            let line = if tick.major {
                self.palette.line
            } else {
                self.palette.faint_line
            };
            painter.fill(Rect::new(x, RULER_PX - 5.0, 1.0, 5.0), line.into());
            if tick.major {
                painter.text(
                    &tick.label,
                    (x + 4.0, RULER_PX / 2.0),
                    Face::Mono,
                    Align::Left,
                    self.palette.ink2.into(),
                );
            }
        }
        painter.unclip();
        painter.fill(
            Rect::new(0.0, RULER_PX - 1.0, width, 1.0),
            self.palette.line.into(),
        );
        painter.fill(
            Rect::new(labels - 1.0, 0.0, 1.0, RULER_PX),
            self.palette.line.into(),
        );
    }

    /// The selected range lies under the marks, so that their colours stay true.
    fn paint_range(&self, painter: &mut impl Painter) {
        if let Some(range) = self.range {
            let (left, right) = self.range_edges(range);
            let area = Rect::new(left, RULER_PX, (right - left).max(1.0), self.size.1);
            painter.fill(area, self.palette.accent.alpha(0.13));
        }
    }

    fn range_edges(&self, range: Span) -> (f64, f64) {
        let labels = self.labels_px();
        (
            self.x(range.start).max(labels),
            self.x(range.end).clamp(labels, self.size.0),
        )
    }

    fn paint_overlay(&self, painter: &mut impl Painter) {
        let (width, height) = self.size;
        let labels = self.labels_px();
        painter.clip(Rect::new(labels, 0.0, (width - labels).max(0.0), height));
        if let Some(range) = self.range {
            let (left, right) = (self.x(range.start), self.x(range.end));
            for x in [left, right] {
                painter.fill(
                    Rect::new(x - 0.75, 0.0, 1.5, height),
                    self.palette.accent.into(),
                );
            }
            let (from, to) = self.range_edges(range);
            painter.fill(
                Rect::new(from, 0.0, (to - from).max(0.0), 3.0),
                self.palette.accent.into(),
            );
        }
        for (item, alpha) in [(self.selected, 1.0), (self.hovered, 0.6)] {
            if let Some(item) = item {
                self.outline(item, alpha, painter);
            }
        }
        if let Some(time) = self.cursor {
            let x = self.x(time);
            let paint = self.palette.ink2.into();
            painter.fill(Rect::new(x - 0.5, RULER_PX - 6.0, 1.0, height), paint);
            painter.fill(Rect::new(x - 3.0, RULER_PX - 9.0, 6.0, 6.0), paint);
        }
        if let Some(time) = self.pointer {
            let x = self.x(time).round() + 0.5;
            painter.dashed((x, RULER_PX), (x, height), self.palette.ink3.into());
        }
        painter.unclip();
    }

    fn outline(&self, item: &Item, alpha: f64, painter: &mut impl Painter) {
        let found = placed(self.tracks).find(|(_, track)| track.row == Some(item.row));
        let Some((top, track)) = found else { return };
        let y = RULER_PX + top - self.scroll_px;
        if y + track.height() <= RULER_PX {
            return;
        }
        let rect = self.rect(item.span, y + 2.0, track.height() - 5.0);
        let (x0, x1) = (rect.x - 1.0, rect.x + rect.w + 1.0);
        let (y0, y1) = (rect.y, rect.y + rect.h);
        let paint = self.palette.ink.alpha(alpha);
        let corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)];
        for pair in corners.windows(2) {
            painter.line(pair[0], pair[1], 1.5, paint);
        }
    }
}

/// The outline of an area that rises in steps from a bottom line.
struct Outline {
    bottom: f64,
    points: Vec<(f64, f64)>,
}

impl Outline {
    const fn new(bottom: f64) -> Self {
        Self {
            bottom,
            points: Vec::new(),
        }
    }

    fn step(&mut self, left: f64, right: f64, height: f64) {
        let y = self.bottom - height;
        match self.points.last_mut() {
            Some(last) if (last.0 - left).abs() < 0.5 => {
                // As high as the step before: that one is longer.
                if last.1 == y {
                    last.0 = right;
                    return;
                }
            }
            Some(&mut (x, _)) => self.points.extend([(x, self.bottom), (left, self.bottom)]),
            None => self.points.push((left, self.bottom)),
        }
        self.points.extend([(left, y), (right, y)]);
    }

    fn finish(mut self) -> Vec<(f64, f64)> {
        if let Some(&(x, _)) = self.points.last() {
            self.points.push((x, self.bottom));
        }
        self.points
    }
}

/// The tracks of a log: program, capabilities, threads.
#[must_use]
pub fn tracks(
    caps: &[(CapId, String)],
    messages: u64,
    threads: &[(ThreadId, Option<String>)],
    threads_in_all: u64,
) -> Vec<Track> {
    let mut tracks = vec![Track::heading("PROGRAM", "PROGRAM")];
    let of = if caps.len() == 1 {
        "1 capability".to_owned()
    } else {
        format!("of {}", caps.len())
    };
    tracks.push(Track::new(Row::Activity, "Activity", of));
    if messages > 0 {
        tracks.push(Track::new(
            Row::Messages,
            "Messages",
            format::count(messages),
        ));
    }
    if !caps.is_empty() {
        tracks.push(Track::heading("CAPABILITIES", "CAPS"));
        tracks.extend(
            caps.iter()
                .map(|(cap, note)| Track::new(Row::Cap(*cap), format!("Capability {cap}"), note)),
        );
    }
    if threads_in_all > 0 {
        let shown = threads.len() as u64;
        let heading = if shown == threads_in_all {
            "THREADS BY ACTIVITY".to_owned()
        } else {
            format!(
                "THREADS · {} OF {}",
                format::count(shown),
                format::count(threads_in_all)
            )
        };
        tracks.push(Track::heading(heading, "THREADS"));
        tracks.extend(threads.iter().map(|(thread, label)| {
            let name = label.clone().unwrap_or_else(|| format!("thread {thread}"));
            Track::new(Row::Thread(*thread), name, format!("#{thread}"))
        }));
    }
    tracks
}
