//! The time axis: computes ticks and paints them.

use super::format::{NBSP, Unit, axis_label};
use super::painter::{Align, Face, Painter, Rect};
use super::palette::Palette;
use super::viewport::Viewport;
use eventlog::ids::{Duration, Nanos};
use model::time::Interval;

/// Estimated width of a label character in CSS pixels; 11 px monospaced text is about 0.6 em wide.
pub(crate) const LABEL_CHAR_PX: f64 = 6.7;
/// Minimum space between two labels, in pixels.
pub(crate) const LABEL_SPACE_PX: f64 = 12.0;
/// Minimum distance of minor ticks, in pixels.
const MINOR_GAP_PX: f64 = 6.0;
/// Limit of the axis width, which bounds the number of ticks.
const MAX_WIDTH_PX: f64 = 100_000.0;
/// Most decimals of absolute labels; beyond it, labels are offsets from a round time.
const MAX_DECIMALS: u32 = 4;

/// Minimum distance of labeled ticks, in pixels.
pub const TICK_PX: f64 = 90.0;
/// Distance of a label from its tick, in pixels.
const BESIDE_PX: f64 = 4.0;

/// A time axis in a picture.
#[derive(Clone, Copy, Debug)]
pub struct Ruler<'a> {
    /// The visible time.
    pub view: Viewport,
    /// Rectangle of the axis, as wide as the view.
    pub area: Rect,
    /// Colors of the current theme.
    pub palette: &'a Palette,
}

impl Ruler<'_> {
    /// Paints ticks and labels. Labels that do not fit to the right of their tick are left out.
    pub fn paint(&self, painter: &mut dyn Painter) {
        let Rect { x: left, y, w, h } = self.area;
        painter.clip(self.area);
        for tick in ticks(self.view.span(), self.view.width_px(), TICK_PX) {
            let x = left + self.view.x_of(tick.time);
            let line = if tick.major {
                self.palette.line
            } else {
                self.palette.faint_line
            };
            painter.fill(Rect::new(x, y + h - 5.0, 1.0, 5.0), line.into());
            let at = x + BESIDE_PX;
            if tick.major && at + painter.measure(&tick.label, Face::Mono) <= left + w {
                let ink = self.palette.ink2.into();
                painter.text(&tick.label, (at, y + h / 2.0), Face::Mono, Align::Left, ink);
            }
        }
        painter.unclip();
    }
}

/// A tick of the time axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Time of the tick.
    pub time: Nanos,
    /// Whether the tick has a label.
    pub major: bool,
    /// Label text, empty for minor ticks.
    pub label: String,
}

/// Label format of an axis.
#[derive(Clone, Copy, Debug)]
struct Labels {
    /// Unit of absolute times, the same for the whole axis.
    unit: Unit,
    /// Distance of major ticks.
    step: Duration,
    /// At deep zoom, the distance of the round times that labels are relative to.
    round: Option<Duration>,
}

/// Returns the ticks of an axis over a range, in order.
///
/// Major ticks are 1, 2 or 5 times a power of ten nanoseconds apart, at least `min_gap_px` pixels, and far enough
/// that labels do not overlap; minor ones lie between them where there is room.
///
/// Where a time needs more than four decimals, only the first label and round times are written in full: `56.117
/// ms +280 ns`, `+290 ns`, …
///
/// Returns no ticks for an empty range or an axis of zero width.
pub fn ticks(range: Interval, width_px: f64, min_gap_px: f64) -> Vec<Tick> {
    let duration = range.duration().0;
    if duration == 0 || width_px.is_nan() || width_px <= 0.0 {
        return Vec::new();
    }
    let px_per_ns = width_px.min(MAX_WIDTH_PX) / duration as f64;
    let Some(labels) = steps()
        .map(|step| Labels::new(range, step))
        .find(|labels| labels.gap_px(range).max(min_gap_px) <= labels.step.0 as f64 * px_per_ns)
    else {
        return Vec::new();
    };
    let minor = minor_step(labels.step, px_per_ns);
    let first_major = multiples(range, labels.step).next();
    multiples(range, minor)
        .map(|time| {
            let major = time.0.is_multiple_of(labels.step.0);
            let label = major.then(|| labels.label(time, Some(time) == first_major));
            Tick {
                time,
                major,
                label: label.unwrap_or_default(),
            }
        })
        .collect()
}

/// Returns the candidates for the distance of ticks: 1, 2, 5, 10, … nanoseconds.
fn steps() -> impl Iterator<Item = Duration> {
    let powers = (0..20).map(|power| 10_u64.pow(power));
    powers.flat_map(|power| {
        [1, 2, 5]
            .into_iter()
            .filter_map(move |k| power.checked_mul(k).map(Duration))
    })
}

/// Returns the multiples of a step within a range.
fn multiples(range: Interval, step: Duration) -> impl Iterator<Item = Nanos> {
    let first = range.start().0.div_ceil(step.0).checked_mul(step.0);
    std::iter::successors(first, move |time| time.checked_add(step.0))
        .take_while(move |&time| time <= range.end().0)
        .map(Nanos)
}

/// Returns the distance of minor ticks; equals `step` if there is no room for them.
fn minor_step(step: Duration, px_per_ns: f64) -> Duration {
    let leading = step.0 / 10_u64.pow(step.0.checked_ilog10().unwrap_or(0));
    let parts: &[u64] = match leading {
        1 => &[5, 2],
        2 => &[4, 2],
        _ => &[5],
    };
    let fitting = parts.iter().find(|&&parts| {
        let room = (step.0 / parts) as f64 * px_per_ns >= MINOR_GAP_PX;
        step.0.is_multiple_of(parts) && room
    });
    Duration(step.0 / fitting.unwrap_or(&1))
}

impl Labels {
    fn new(range: Interval, step: Duration) -> Self {
        let unit = Unit::for_duration(Duration(range.end().0).max(step));
        let deep = unit.decimals(step) > MAX_DECIMALS;
        let round = Unit::for_duration(step).next().filter(|_| deep);
        Self {
            unit,
            step,
            round: round.map(|unit| Duration(unit.length)),
        }
    }

    /// Returns the label of a tick. The first label also has the base of the offsets that follow.
    fn label(&self, time: Nanos, first: bool) -> String {
        let Some(round) = self.round else {
            return self.unit.label(Duration(time.0), self.step);
        };
        let base = Nanos(time.0 - time.0 % round.0);
        let full = self.unit.label(Duration(base.0), round);
        let offset = axis_label(time, self.step, Some(base));
        match (time == base, first) {
            (true, _) => full,
            (false, true) => format!("{full}{NBSP}{offset}"),
            (false, false) => offset,
        }
    }

    /// Returns the minimum distance of major ticks in pixels, for the longest label: that of the latest time, or
    /// with the offset just below a round time.
    fn gap_px(&self, range: Interval) -> f64 {
        let longest = match self.round {
            None => self.label(range.end(), true),
            Some(round) => {
                let full = self.unit.label(Duration(range.end().0), round);
                let offset = axis_label(Nanos(round.0 - self.step.0), self.step, Some(Nanos(0)));
                format!("{full}{NBSP}{offset}")
            }
        };
        label_px(&longest) + LABEL_SPACE_PX
    }
}

fn label_px(label: &str) -> f64 {
    label.chars().count() as f64 * LABEL_CHAR_PX
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn labels(start: u64, end: u64, width: f64) -> Vec<String> {
        ticks(Interval::new(Nanos(start), Nanos(end)), width, 80.0)
            .into_iter()
            .filter(|tick| tick.major)
            .map(|tick| tick.label.replace(NBSP, " "))
            .collect()
    }

    #[test]
    fn pictures() {
        assert_eq!(
            labels(44_000_000, 52_000_000, 440.0),
            ["44 ms", "46 ms", "48 ms", "50 ms", "52 ms"]
        );
        assert_eq!(labels(0, 1_200_000_000, 440.0), ["0.0 s", "0.5 s", "1.0 s"]);
        assert_eq!(labels(5, 8, 400.0), ["5 ns", "6 ns", "7 ns", "8 ns"]);
        assert_eq!(
            labels(12_345_678_790, 12_345_679_220, 800.0),
            [
                "12.345678 s +800 ns",
                "+900 ns",
                "12.345679 s",
                "+100 ns",
                "+200 ns"
            ]
        );
        assert_eq!(
            labels(56_117_281, 56_117_300, 800.0),
            ["56.117 ms +285 ns", "+290 ns", "+295 ns", "+300 ns"]
        );
    }

    #[test]
    fn nothing_to_draw() {
        let range = Interval::new(Nanos(5), Nanos(10));
        for width in [0.0, -1.0, f64::NAN] {
            assert_eq!(ticks(range, width, 80.0), []);
        }
        assert_eq!(ticks(Interval::new(Nanos(5), Nanos(5)), 100.0, 80.0), []);
        assert_eq!(ticks(Interval::new(Nanos(9), Nanos(5)), 100.0, 80.0), []);
        let (first, last) = (Nanos(0), Nanos(u64::MAX));
        assert!(ticks(Interval::new(first, last), f64::INFINITY, f64::NAN).len() < 20_000);
    }

    fn any_range() -> impl Strategy<Value = Interval> {
        (any::<u64>(), 0..64_u32, any::<u64>(), 0..64_u32).prop_map(|(start, a, length, b)| {
            let (start, length) = (start >> a, (length >> b).max(1));
            Interval::new(Nanos(start), Nanos(start.saturating_add(length)))
        })
    }

    proptest! {
        #[test]
        fn ticks_are_sound(range in any_range(), width in 1.0..4000.0, gap in 0.0..200.0) {
            let all = ticks(range, width, gap);
            let px = |time: Nanos| time.since(range.start()).0 as f64 * width / range.duration().0 as f64;
            prop_assert!(all.iter().all(|tick| range.start() <= tick.time && tick.time <= range.end()));
            prop_assert!(all.iter().all(|tick| tick.major != tick.label.is_empty()));
            for pair in all.windows(2) {
                prop_assert!(pair[0].time < pair[1].time);
                prop_assert!(px(pair[1].time) - px(pair[0].time) >= MINOR_GAP_PX * 0.99);
            }
            let major: Vec<_> = all.iter().filter(|tick| tick.major).collect();
            for pair in major.windows(2) {
                let distance = px(pair[1].time) - px(pair[0].time) + 0.01;
                let widest = label_px(&pair[0].label).max(label_px(&pair[1].label));
                prop_assert!(distance >= gap && distance >= widest + LABEL_SPACE_PX);
                prop_assert_ne!(&pair[0].label, &pair[1].label);
            }
            let step = major.windows(2).map(|pair| pair[1].time.since(pair[0].time).0).next();
            if let Some(step) = step {
                let leading = step.to_string();
                prop_assert!(["1", "2", "5"].contains(&leading.trim_end_matches('0')));
            }
        }

        #[test]
        fn an_axis_has_labels(range in any_range(), width in 1000.0..4000.0, gap in 0.0..200.0) {
            let major = ticks(range, width, gap).into_iter().filter(|tick| tick.major);
            prop_assert!(major.count() >= 1 || range.start() == range.end());
        }
    }
}
