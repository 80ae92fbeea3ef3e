//! Export of a whole flame graph as a picture.

use super::{FlameScene, Graph, Window};
use analysis::flamegraph::source_info::SourceInfo;
use analysis::flamegraph::sources;
use model::profile::weights::Measure;
use scene::palette::Palette;
use scene::svg::SvgPainter;
use session::flame::query::{FlameBoxes, FlameHead, FlameQuery, View};

/// Width of the picture, in CSS pixels.
const PICTURE_PX: f64 = 1600.0;

/// Returns the query for a picture of the whole graph of `query`.
pub fn picture_query(query: &FlameQuery) -> FlameQuery {
    FlameQuery {
        window: (0.0, 1.0),
        width_px: PICTURE_PX as u32,
        levels: None,
        ..query.clone()
    }
}

/// Renders the reply to `query` as SVG.
pub fn svg(
    (head, boxes): (FlameHead, FlameBoxes),
    query: &FlameQuery,
    source: &SourceInfo,
    palette: &Palette,
    dark: bool,
) -> String {
    let names = source.titles(head.bands.iter().map(|(track, _)| *track));
    let unit = sources::description(query.choice.source).unit;
    let measure = match query.view {
        // Boxes in order of time are as wide as their time.
        View::Time => Measure::Amount,
        _ => query.measure,
    };
    let graph = Graph::new(head, boxes, unit, measure, names);
    let size = (PICTURE_PX, graph.height_px());
    let scene = FlameScene {
        graph: &graph,
        window: Window::ALL,
        scroll_px: 0.0,
        size,
        across: (0.0, size.0),
        upwards: false,
        palette,
        dark,
        hovered: None,
        selected: None,
        searching: !query.search.trim().is_empty(),
    };
    let mut painter = SvgPainter::new(size);
    scene.paint(&mut painter);
    painter.finish()
}
