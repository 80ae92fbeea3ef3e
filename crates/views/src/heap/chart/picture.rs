//! Export of a heap chart as a picture with title and legend.

use super::paint::{Scene, number};
use super::words::others_words;
use crate::heap::settings::Form;
use scene::format;
use scene::painter::{Align, Face, Painter, Rect};
use scene::palette::Palette;
use scene::svg::SvgPainter;
use scene::viewport::Viewport;
use session::heap::chart::Chart;
use session::heap::colors::color;

/// Display settings of the picture.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Width and height in CSS pixels.
    pub size: (f64, f64),
    /// Form of the chart.
    pub form: Form,
    /// Whether all lines share one scale.
    pub one_scale: bool,
    /// Whether to use the dark theme.
    pub dark: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            size: (1200.0, 480.0),
            form: Form::Area,
            one_scale: false,
            dark: false,
        }
    }
}

/// Width of the legend, in pixels.
const LEGEND_PX: f64 = 260.0;
/// Margin between elements, in pixels.
const MARGIN_PX: f64 = 14.0;
/// Height of the title, in pixels.
const TITLE_PX: f64 = 30.0;
/// Height of a legend line, in pixels.
const LINE_PX: f64 = 18.0;

/// Returns the width of the chart in the picture, in pixels; also the resolution to query.
pub fn chart_px(look: &Look) -> f64 {
    (look.size.0 - LEGEND_PX - 3.0 * MARGIN_PX).max(100.0)
}

/// Renders the chart as SVG, with the title above and the legend at the right.
pub fn heap_svg(chart: &Chart, title: &str, look: &Look) -> String {
    let mut painter = SvgPainter::new(look.size);
    let palette = Palette::select(look.dark, false);
    paint(chart, title, look, palette, &mut painter);
    painter.finish()
}

/// Renders the chart as SVG that follows the light or dark theme of the page; `id` must be unique within the page.
pub fn heap_svg_themed(chart: &Chart, title: &str, look: &Look, id: &str) -> String {
    SvgPainter::themed(look.size, (id, title), |palette, painter| {
        paint(chart, title, look, palette, painter);
    })
}

fn paint(chart: &Chart, title: &str, look: &Look, palette: &Palette, painter: &mut dyn Painter) {
    let (width, height) = look.size;
    painter.fill(Rect::new(0.0, 0.0, width, height), palette.page.into());
    let at = (MARGIN_PX, TITLE_PX / 2.0 + 3.0);
    painter.text(title, at, Face::Strong, Align::Left, palette.ink.into());
    let area = Rect::new(
        MARGIN_PX,
        TITLE_PX,
        chart_px(look),
        (height - TITLE_PX - MARGIN_PX).max(50.0),
    );
    let mut view = Viewport::new(chart.axis, area.w);
    view.show_exactly(chart.axis);
    let scene = Scene {
        chart,
        form: look.form,
        one_scale: look.one_scale,
        view,
        area,
        palette,
        range: None,
        pointed: None,
    };
    scene.paint(painter);
    legend(chart, &scene, painter);
}

/// Paints the legend: color, number, name and maximum bytes of each band, in the order of the chart's bands.
fn legend(chart: &Chart, scene: &Scene<'_>, painter: &mut dyn Painter) {
    let palette = scene.palette;
    let left = scene.area.x + scene.area.w + MARGIN_PX;
    let right = left + LEGEND_PX;
    let room = ((scene.area.h / LINE_PX) as usize).max(1);
    for (place, band) in chart.bands.iter().enumerate().take(room) {
        let y = scene.area.y + (place as f64 + 0.5) * LINE_PX;
        let swatch = Rect::new(left, y - 6.0, 12.0, 12.0);
        painter.fill(swatch, color(band.slot, palette.is_dark()).into());
        let (ink, faint) = (palette.ink.into(), palette.ink2.into());
        let number = number(chart, place);
        painter.text(&number, (left + 32.0, y), Face::Mono, Align::Right, faint);
        let most = format::bytes(band.max.round() as u64);
        let name = if band.is_single() {
            band.name.clone()
        } else {
            others_words(chart)
        };
        let measure = |text: &str| painter.measure(text, Face::Label);
        let name = format::truncate_middle(&name, LEGEND_PX - 110.0, measure).into_owned();
        painter.text(&name, (left + 38.0, y), Face::Label, Align::Left, ink);
        painter.text(&most, (right, y), Face::Mono, Align::Right, faint);
    }
}
