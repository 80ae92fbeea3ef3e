//! Heap band track: a small heap profile chart. The heap panel selects the bands.

use serde::{Deserialize, Serialize};

use super::details::{DetailField, DetailsQuery};
use super::item::{Marks, PaintInput};
use super::legend::{LegendEntry, LegendSample, Section};
use super::{Log, Shape, TrackEntry, TrackKind, link, sample_data};
use crate::heap::chart::stacks::{censuses_to_draw, in_view, stacks_of};
use crate::heap::colors::{OTHERS, color, slots};
use crate::tracks::group::TrackGroup;
use analysis::heap::HeapProfile;
use model::census::BandId;
use model::gauge::GaugeSegment;
use model::marks::{MarkWriter, NamedSeries, Values};
use model::sorting::CompactSort;
use scene::format;
use scene::gauge::{Gauge, Unit};
use scene::painter::{Painter, Rect};
use scene::strip::plot::Plot;
use scene::viewport::Viewport;

/// Stacked bands of a heap profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Bands;

/// Maximum number of bands, because the track is low.
const MOST: usize = 30;
/// Maximum number of bands in the details of an instant.
const MAX_DESCRIBED: usize = 8;
/// Share of a band's own color that remains while another band is pinned.
const FADED: f64 = 0.4;

/// Returns the profile of the selected bands, if its censuses have times.
fn profile<'a>(log: &Log<'a>) -> Option<&'a HeapProfile> {
    let profile = log.recording.heap().selected(log.heap?.profile)?;
    profile.is_timed().then_some(profile)
}

impl TrackKind for Bands {
    type Payload = ();

    const GROUP: TrackGroup = TrackGroup::Program;
    const SHAPE: Shape = Shape::Gauge;
    const SECTION: Section = Section::Graphs;
    const HEIGHT_PX: f64 = 56.0;

    link::word_link!("bands");

    fn entries_in_log(log: &Log<'_>) -> impl IntoIterator<Item = TrackEntry> {
        let profiles = log.recording.heap();
        let timed = profiles.iter().find(|profile| profile.is_timed());
        timed.map(|profile| {
            let track = TrackEntry::new(Self, "Heap by band").short("Heap");
            track.note(profile.kind.breakdown.flag())
        })
    }

    fn gauge(self) -> Option<Gauge> {
        Some(Gauge {
            series: &[],
            unit: Unit::Bytes,
            stacked: true,
            scale: None,
        })
    }

    fn answer(self, log: &Log<'_>, writer: &mut MarkWriter) {
        let (Some(chosen), Some(profile)) = (log.heap, profile(log)) else {
            return;
        };
        let places = chosen
            .bands
            .clip_to_named(in_view(profile, writer.view, writer.end));
        let width = writer.view.duration().0.div_ceil(writer.bucket_ns).max(1);
        let width = u32::try_from(width).unwrap_or(u32::MAX);
        let picked = censuses_to_draw(profile, places.clone(), writer.view, width);
        let keys: Vec<&str> = chosen
            .shown
            .iter()
            .map(|&band| chosen.bands.key(band))
            .collect();
        let stacks = stacks_of(chosen, profile, places, picked);
        let singles = chosen.shown.len();
        let own = singles.min(MOST);
        for ((&band, key), slot) in chosen.shown.iter().zip(&keys).zip(slots(&keys)).take(own) {
            writer.name_series(NamedSeries {
                key: (*key).to_owned(),
                name: chosen.bands.name(band).to_owned(),
                color: slot,
                pinned: chosen.pinned.as_deref() == Some(key),
                ..NamedSeries::default()
            });
        }
        let rest: Vec<usize> = (own..stacks.bands()).collect();
        if !rest.is_empty() {
            writer.name_series(NamedSeries {
                name: "all others".to_owned(),
                color: OTHERS,
                ..NamedSeries::default()
            });
        }
        let single = (0..own).map(|band| vec![band]);
        let rest = (!rest.is_empty()).then_some(rest);
        for (series, members) in (0u8..).zip(single.chain(rest)) {
            for stack in 0..stacks.len() {
                let time = |stack: usize| stacks.at.get(stack).map(|&at| at as u64);
                let Some(start) = time(stack) else { continue };
                let bytes = members.iter().map(|&band| stacks.value(band, stack)).sum();
                let stretch = GaugeSegment {
                    start,
                    end: time(stack + 1).unwrap_or(start.saturating_add(writer.bucket_ns)),
                    values: Values::constant(bytes),
                };
                writer.gauge_segment(series, &stretch);
            }
        }
    }

    fn paint(self, shown: &PaintInput<'_>, painter: &mut dyn Painter) {
        let strip = &shown.strip;
        let stack = Stack::from_marks(shown.marks, strip.area, strip.view);
        strip.paint_grid(&stack.plot, painter);
        let palette = strip.palette;
        let named: Vec<&NamedSeries> = shown.marks.named_series(self).collect();
        let followed = named.iter().any(|series| series.pinned);
        for (place, edge) in stack.edges.iter().enumerate().skip(1).rev() {
            let Some(series) = place.checked_sub(1).and_then(|place| named.get(place)) else {
                continue;
            };
            let ground = stack.edges.first().map_or(&[][..], Vec::as_slice);
            let outline: Vec<(f64, f64)> =
                edge.iter().chain(ground.iter().rev()).copied().collect();
            let own = color(series.color, palette.is_dark());
            let shown = if followed && !series.pinned {
                own.mixed(palette.page, FADED)
            } else {
                own
            };
            painter.polygon(&outline, shown.into());
            painter.polyline(edge, 0.75, palette.page.alpha(0.6));
        }
        strip.paint_scale(&stack.plot, Unit::Bytes, painter);
    }

    /// Returns the bands with the most bytes at that time.
    fn details(self, log: &Log<'_>, query: &DetailsQuery) -> Vec<DetailField> {
        let (Some(chosen), Some(profile)) = (log.heap, profile(log)) else {
            return Vec::new();
        };
        let time = query.span.start();
        let after = profile.censuses.times().partition_point(|at| *at <= time);
        let Some(census) = after.checked_sub(1).map(|census| census as u32) else {
            return Vec::new();
        };
        let censuses = chosen.bands.censuses(profile);
        let all = (0..censuses.bands() as u32).map(BandId);
        let held = all.map(|band| (censuses.bytes_at(band, census), band));
        let mut held: Vec<(u64, BandId)> = held.filter(|(bytes, _)| *bytes > 0).collect();
        held.sort_small_by(|a, b| b.cmp(a));
        let total = censuses.total(census);
        let of = format!("{} of {}", census + 1, censuses.len());
        let sum = DetailField::new("all bands", format::bytes(total));
        let band = |&(bytes, band): &(u64, BandId)| {
            let text = format!(
                "{}, {}",
                format::bytes(bytes),
                format::percent(bytes, total)
            );
            DetailField::new(chosen.bands.name(band).to_owned(), text)
        };
        let facts = [DetailField::new("census", of), sum];
        facts
            .into_iter()
            .chain(held.iter().take(MAX_DESCRIBED).map(band))
            .collect()
    }

    fn legend() -> Vec<LegendEntry> {
        let levels = [sample_data::LEVELS, sample_data::LOWER, sample_data::LOWEST];
        let mut sample = LegendSample::three(Self, sample_data::MIB, levels);
        sample.0.reply.named_series = (0..3)
            .map(|place| NamedSeries {
                color: place * 5,
                ..NamedSeries::default()
            })
            .collect();
        vec![LegendEntry::new(
            "Heap by band",
            "Bands of the last heap profile, stacked, in the colors of the panel Heap. Click a band to highlight it.",
            sample,
        )]
    }
}

/// Bands as polylines in pixels.
struct Stack {
    plot: Plot,
    /// Lines below and above the bands, from the bottom up.
    edges: Vec<Vec<(f64, f64)>>,
}

impl Stack {
    fn from_marks(marks: &Marks, area: Rect, view: Viewport) -> Self {
        let mut series: Vec<Vec<(f64, f64)>> = Vec::new();
        for (point, span) in marks.points(Bands) {
            let place = usize::from(point.series);
            if place >= series.len() {
                series.resize_with(place + 1, Vec::new);
            }
            if let Some(points) = series.get_mut(place) {
                let x = area.x + view.x_of(span.start());
                points.push((x, point.values.last));
            }
        }
        let ground: Vec<(f64, f64)> = series.first().map_or_else(Vec::new, |first| {
            first.iter().map(|(x, _)| (*x, 0.0)).collect()
        });
        let mut sums = vec![ground];
        for points in series {
            let below = sums.last().into_iter().flatten();
            let sum = below
                .zip(points)
                .map(|((x, sum), (_, value))| (*x, sum + value));
            sums.push(sum.collect());
        }
        let greatest = sums.last().into_iter().flatten();
        let greatest = greatest.map(|(_, sum)| *sum).fold(0.0, f64::max);
        let plot = Plot::new(area, Unit::Bytes, greatest);
        for (_, value) in sums.iter_mut().flatten() {
            *value = plot.y(*value);
        }
        Self { plot, edges: sums }
    }

    /// Returns the index of the band at a position.
    fn band_at(&self, (x, y): (f64, f64)) -> Option<usize> {
        let height = |edge: &Vec<(f64, f64)>| {
            let after = edge.partition_point(|(at, _)| *at <= x);
            let (left, low) = *edge.get(after.checked_sub(1)?)?;
            let (right, high) = *edge.get(after)?;
            let part = (x - left) / (right - left).max(f64::MIN_POSITIVE);
            Some(low + (high - low) * part)
        };
        let heights: Vec<f64> = self.edges.iter().filter_map(height).collect();
        let inside = |pair: &[f64]| matches!(pair, [lower, upper] if *upper <= y && y < *lower);
        heights.windows(2).position(inside)
    }
}

impl Bands {
    /// Returns the key of the band at a position in the strip; `None` for the sum of all others.
    pub fn key_at(
        self,
        marks: &Marks,
        area: Rect,
        view: Viewport,
        at: (f64, f64),
    ) -> Option<String> {
        let place = Stack::from_marks(marks, area, view).band_at(at)?;
        let key = &marks.named_series(self).nth(place)?.key;
        (!key.is_empty()).then(|| key.clone())
    }
}
