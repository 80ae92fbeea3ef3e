//! Components of the panels; [`views::panels`] lists them. A new panel needs a module here and a line in that table.

mod collections;
mod compare;
mod events;
mod findings;
pub(super) mod flame;
mod heap;
mod in_view;
pub(super) mod notes;
mod process;
mod sparks;
mod summary;
mod threads;
mod ticky;

use std::rc::Rc;

use yew::virtual_dom::VComp;

use crate::panel::PanelProps;
use findings::FindingCard;
pub(super) use findings::FindingNavigator;
use views::for_each_panel;
use views::view::panel::PanelName;

macro_rules! panels {
    ($($name:literal, $($digit:literal)?, $title:literal, $settings:ty, $view:path, $help:literal;)*) => {
        /// Renders a panel below the card of the finding that led there.
        pub(super) fn view(name: PanelName, props: PanelProps) -> yew::Html {
            let card = VComp::new::<FindingCard>(Rc::new(props.clone()), None);
            let processes = &props.overview.contents.processes;
            let several = views::words::processes::about(name.0, processes);
            let several = several.map(|text| yew::html! { <p class="several">{ text }</p> });
            let panel = match name.0 {
                $($name => VComp::new::<$view>(Rc::new(props), None).into(),)*
                _ => yew::Html::default(),
            };
            yew::html! { <>{ yew::Html::from(card) }{ several }{ panel }</> }
        }
    };
}

for_each_panel!(panels);
