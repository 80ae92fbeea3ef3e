//! Activity track: how many capabilities run Haskell code, and how many collect garbage.

use serde::{Deserialize, Serialize};

use super::details::{DetailField, DetailsQuery};
use super::gauge::bucket_ns;
use super::legend::{LegendEntry, LegendSample, Section};
use super::{Log, Shape, TrackEntry, TrackKind, link};
use crate::tracks::group::TrackGroup;
use crate::tracks::item::{Item, Marks, Names, PaintInput};
use crate::tracks::words;
use analysis::timeline::activity::{COLLECTING, UNREAD, points, series_of};
use eventlog::ids::Nanos;
use model::gauge::GaugeSegment;
use model::marks::{MarkWriter, Values};
use model::time::Interval;
use scene::format;
use scene::gauge::{Gauge, Series, Style, Unit};
use scene::painter::{Painter, Rect};
use scene::palette::Palette;
use scene::strip::paint_unread;
use scene::strip::plot::{Band, Column, Outline, stacked};

/// Activity of all capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Activity;

/// Maximum number of capabilities listed individually in the details.
const MAX_CAPS: usize = 64;
/// Minimum height of a capability's band at which bands are separated by lines.
const SEPARATED_PX: f64 = 3.0;

impl TrackKind for Activity {
    type Payload = ();

    const GROUP: TrackGroup = TrackGroup::Program;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 56.0;

    link::word_link!("activity");

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let of = match log.caps().len() {
            // Textual heap profiles have no capabilities.
            0 => return None,
            _ if log.recording.completeness.is_some() && log.recording.store.run_count() == 0 => {
                "no scheduler events".to_owned()
            }
            1 => "1 capability".to_owned(),
            count => format!("of {count}"),
        };
        Some(TrackEntry::new(Self, "Activity").note(of))
    }

    fn gauge(self) -> Option<Gauge> {
        Some(Gauge {
            series: &[],
            unit: Unit::Capabilities,
            stacked: true,
            scale: None,
        })
    }

    /// All capabilities share one color.
    fn color_keys(self) -> &'static [Series] {
        const {
            &[
                Series::new("running", Style::Filled, |palette| palette.running),
                Series::new("collecting", Style::Filled, |palette| palette.gc),
            ]
        }
    }

    fn series_name(self, series: u8, caps: usize) -> String {
        if series == COLLECTING {
            return "collecting garbage".to_owned();
        }
        let place = |place: &usize| series_of(*place, caps) == usize::from(series);
        let first = (0..caps).find(place).unwrap_or_default();
        let last = (0..caps).rfind(place).unwrap_or_default();
        if first == last {
            format!("capability {first} running")
        } else {
            format!("capabilities {first} to {last} running")
        }
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let recording = &log.recording;
        let caps = log.caps();
        points(
            &recording.store,
            &caps,
            writer.buckets(),
            |series, stretch| {
                writer.gauge_segment(series, &stretch);
            },
        );
        let unread = log.unread_in(writer.view);
        for (span, busy) in log.unread.all(unread, writer.bucket_ns) {
            let stretch = GaugeSegment {
                start: span.start().0,
                end: span.end().0,
                values: Values::constant(busy * caps.len() as f64),
            };
            writer.gauge_segment(UNREAD, &stretch);
        }
    }

    fn value_override(self, series: u8) -> Option<&'static str> {
        (series == UNREAD).then_some("not read yet")
    }

    fn paint(self, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
        paint(shown, painter);
    }

    fn describe(self, item: &Item, _: &dyn Names) -> (String, String) {
        let name = "Activity: how many capabilities run Haskell code";
        (name.to_owned(), words::when(item))
    }

    /// Returns for each capability the shares of the bucket in which it ran Haskell code and collected.
    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        let length = bucket_ns(query.span);
        let start = query.span.start().0 / length * length;
        let span = Interval::new(Nanos(start), Nanos(start.saturating_add(length)));
        if log.is_unread(span) {
            let bytes = format::bytes(log.unread.bytes(span));
            return vec![DetailField::new(
                "not read yet",
                format!("{bytes} of events"),
            )];
        }
        let store = &log.recording.store;
        let share = |time: u64| format::fraction(time as f64 / length as f64);
        let (mut running, mut collecting, mut caps) = (0u64, 0u64, 0usize);
        let mut each = Vec::new();
        for (cap, _) in log.recording.info.lives.caps() {
            let times = store.account().cap(cap, span);
            let (ran, gc) = (times.running_ns, times.in_collections_ns());
            running = running.saturating_add(ran);
            collecting = collecting.saturating_add(gc);
            caps += 1;
            if caps <= MAX_CAPS {
                let text = format!("running {}, collecting {}", share(ran), share(gc));
                each.push(DetailField::new(format!("capability {cap}"), text));
            }
        }
        let mean = |time: u64| format!("{:.2} of {caps}", time as f64 / length as f64);
        let mut facts = vec![
            DetailField::new("running", mean(running)),
            DetailField::new("collecting", mean(collecting)),
        ];
        facts.append(&mut each);
        facts
    }

    fn legend() -> Vec<LegendEntry> {
        let busy: [f64; 8] = [0.5, 0.9, 1.0, 1.0, 0.2, 0.9, 1.0, 0.8];
        let other: [f64; 8] = [0.1, 0.6, 0.8, 0.4, 0.1, 0.7, 0.9, 0.2];
        let collecting: [f64; 8] = [0.0, 0.2, 0.0, 0.4, 1.6, 0.1, 0.0, 0.6];
        vec![LegendEntry::new(
            "Activity",
            "Number of capabilities that run Haskell code, a band for each; on top, the number that collect garbage.",
            LegendSample::graph(Self, &[(0, &busy), (1, &other), (COLLECTING, &collecting)]),
        )]
    }
}

/// Paints the running capabilities, one band each, with the collecting ones on top.
fn paint(shown: &PaintInput<'_>, painter: &mut dyn Painter) {
    let strip = &shown.strip;
    let area = strip.area;
    let bottom = area.y + area.h - 4.0;
    let scale = (area.h - 12.0) / shown.caps.max(1) as f64;
    for k in 1..=shown.caps.min(8) as u32 {
        let y = bottom - scale * f64::from(k);
        let line = Rect::new(area.x, y, area.w, 1.0);
        painter.fill(line, strip.palette.faint_line.into());
    }
    let stack = Stack::from_marks(shown.marks, |time| strip.x(time), area);
    stack.paint_unread((bottom, scale), strip.palette, painter);
    painter.polygon(
        &outline(&stack.collecting, bottom, scale),
        strip.palette.gc.into(),
    );
    let collecting = stack.collecting.iter();
    for column in collecting.filter(|column| column.upper > column.lower) {
        let h = (column.upper - column.lower) * scale;
        let (x, w) = (column.left, column.right - column.left);
        let part = Rect::new(x, bottom - column.upper * scale, w, h);
        strip.paint_stripes(part, painter);
    }
    let Some((last, below)) = stack.running.split_last() else {
        return;
    };
    painter.polygon(&outline(last, bottom, scale), strip.palette.running.into());
    if scale < SEPARATED_PX {
        return;
    }
    for columns in below {
        let mut band = Band::default();
        for (column, top) in columns.iter().zip(last) {
            if column.upper <= 0.0 || column.upper >= top.upper {
                continue;
            }
            let y = bottom - column.upper * scale;
            band.step(column.left, column.right, y - 0.5, y + 0.5);
        }
        band.paint(strip.palette.page.alpha(0.6), painter);
    }
}

/// Activity as stacked columns in pixels.
#[derive(Debug)]
pub struct Stack {
    /// Running mutators: one series per capability, each on top of the previous.
    pub running: Vec<Vec<Column>>,
    /// Collecting capabilities, on top of the running ones.
    pub collecting: Vec<Column>,
    /// Density of the log where it is not read yet.
    pub(crate) unread: Vec<Column>,
}

impl Stack {
    /// Stacks the activity points of `marks` that lie in `area`; `x` maps times to positions.
    pub fn from_marks(marks: &Marks, x: impl Fn(Nanos) -> f64, area: Rect) -> Self {
        let mut running: Vec<Vec<(f64, f64, f64)>> = Vec::new();
        let (mut collecting, mut unread) = (Vec::new(), Vec::new());
        for (point, span) in marks.points(Activity) {
            let (from, to) = (x(span.start()), x(span.end()));
            if to < area.x || from > area.x + area.w {
                continue;
            }
            let steps = match point.series {
                COLLECTING => &mut collecting,
                UNREAD => &mut unread,
                series => {
                    let place = usize::from(series);
                    if place >= running.len() {
                        running.resize_with(place + 1, Vec::new);
                    }
                    &mut running[place]
                }
            };
            steps.push((from, to, point.values.last));
        }
        running.push(collecting);
        let mut running = stacked(&running);
        let collecting = running.pop().unwrap_or_default();
        Self {
            running,
            collecting,
            unread: stacked(&[unread]).pop().unwrap_or_default(),
        }
    }

    /// Paints the density of the log where it is not read yet.
    pub fn paint_unread(
        &self,
        (bottom, scale): (f64, f64),
        palette: &Palette,
        painter: &mut dyn Painter,
    ) {
        for column in self.unread.iter().filter(|column| column.upper > 0.0) {
            let h = (column.upper * scale).max(1.0);
            let bar = Rect::new(column.left, bottom - h, column.right - column.left, h);
            paint_unread(palette, bar, painter);
        }
    }
}

/// Returns the outline of columns above `bottom`; `scale` is the height of one capability in pixels.
pub fn outline(columns: &[Column], bottom: f64, scale: f64) -> Vec<(f64, f64)> {
    let mut outline = Outline::new(bottom);
    for column in columns {
        outline.step(column.left, column.right, column.upper * scale);
    }
    outline.finish()
}
