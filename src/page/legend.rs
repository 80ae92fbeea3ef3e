//! Legend of the timeline's marks: explanations next to samples, which the painting code of the timeline renders.

use web_sys::HtmlCanvasElement;
use yew::prelude::*;

use super::canvas::CanvasPainter;
use super::theme;
use scene::painter::Rect;
use session::tracks::legend::{SAMPLE_PX, Section};
use views::timeline::legend::{Entry, entries, paint_sample};

#[derive(Properties, PartialEq)]
pub(super) struct LegendProps {
    /// Incremented when the theme changes.
    pub(super) color_generation: u32,
}

/// Legend entry with the canvas of its sample.
type EntryCanvas = (Entry, NodeRef);

/// Whole legend, section by section.
#[component]
pub(super) fn Legend(props: &LegendProps) -> Html {
    let sections = use_memo((), |()| {
        let placed = |section: Section| -> Vec<EntryCanvas> {
            let entries = entries(section).into_iter();
            entries.map(|entry| (entry, NodeRef::default())).collect()
        };
        Section::ALL.map(|section| (section, placed(section)))
    });
    {
        let sections = sections.clone();
        use_effect_with(props.color_generation, move |_| {
            for (entry, node) in sections.iter().flat_map(|(_, entries)| entries) {
                if let Some(canvas) = node.cast::<HtmlCanvasElement>() {
                    paint(entry, &canvas);
                }
            }
        });
    }
    html! { <div class="mark-legend">{ for sections.iter().map(view_section) }</div> }
}

fn view_section((section, entries): &(Section, Vec<EntryCanvas>)) -> Html {
    let entry = |(entry, node): &EntryCanvas| {
        html! {
            <div>
                <dt><canvas ref={node.clone()} aria-hidden="true" />{ entry.name }</dt>
                <dd>{ entry.meaning }</dd>
            </div>
        }
    };
    html! {
        <section>
            <h4>{ section.title() }</h4>
            if !section.note().is_empty() {
                <p class="note">{ section.note() }</p>
            }
            <dl>{ for entries.iter().map(entry) }</dl>
        </section>
    }
}

fn paint(entry: &Entry, canvas: &HtmlCanvasElement) {
    let Some(mut painter) = CanvasPainter::new(canvas) else {
        return;
    };
    let (width, height) = (SAMPLE_PX, entry.height_px());
    let theme = theme::current();
    let rect = Rect::new(0.0, 0.0, width, height);
    painter.picture((width, height), |painter| {
        paint_sample(entry, rect, theme.palette, theme.patterns, painter);
    });
}
