//! What the marks of the timeline mean: words beside small pictures, which
//! the timeline's own painting makes.

use web_sys::HtmlCanvasElement;
use yew::prelude::*;

use super::canvas::CanvasPainter;
use super::theme;
use scene::painter::Rect;
use session::tracks::legend::{SAMPLE_PX, Section};
use views::timeline::legend::{Entry, entries, paint_sample};

#[derive(Properties, PartialEq)]
pub(super) struct LegendProps {
    /// Goes up when the theme changes.
    pub(super) colours: u32,
}

/// An entry with its place in the page.
type Placed = (Entry, NodeRef);

/// The whole legend, section by section.
#[component]
pub(super) fn Legend(props: &LegendProps) -> Html {
    let sections = use_memo((), |()| {
        let placed = |section: Section| -> Vec<Placed> {
            let entries = entries(section).into_iter();
            entries.map(|entry| (entry, NodeRef::default())).collect()
        };
        Section::ALL.map(|section| (section, placed(section)))
    });
    {
        let sections = sections.clone();
        use_effect_with(props.colours, move |_| {
            for (entry, node) in sections.iter().flat_map(|(_, entries)| entries) {
                if let Some(canvas) = node.cast::<HtmlCanvasElement>() {
                    paint(entry, &canvas);
                }
            }
        });
    }
    html! { <div class="mark-legend">{ for sections.iter().map(view_section) }</div> }
}

fn view_section((section, entries): &(Section, Vec<Placed>)) -> Html {
    let entry = |(entry, node): &Placed| {
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
