//! The bar above the tabs: choice of profile, bands and order.

use std::rc::Rc;

use yew::prelude::*;

use crate::dom::value_of;
use crate::field::Field;
use crate::panel::{Extent, Source, edited};
use analysis::heap::ranking::BandOrder;
use model::time::Interval;
use session::heap::choice::{Grouping, HeapChoice};
use session::heap::profiles::ProfileInfo;
use views::heap::settings::{HeapView, MAX_BANDS};

#[derive(Properties, PartialEq)]
pub(super) struct BarProps {
    pub(super) source: Source,
    pub(super) profiles: Rc<Vec<ProfileInfo>>,
    pub(super) view: HeapView,
    pub(super) range: Option<Interval>,
    pub(super) complete: bool,
    pub(super) on_view: Callback<HeapView>,
}

impl BarProps {
    /// Returns a callback that edits the choice.
    fn change<T: 'static>(&self, edit: impl Fn(&mut HeapChoice, T) + 'static) -> Callback<T> {
        edited(&self.view, &self.on_view, move |view, value| {
            edit(&mut view.choice, value);
        })
    }
}

#[component]
pub(super) fn Bar(props: &BarProps) -> Html {
    let choice = &props.view.choice;
    let profile = props
        .profiles
        .get(choice.profile as usize)
        .or(props.profiles.first());
    let filter = props.change(|choice, text: String| choice.filter = text);
    html! {
        <div class="controls heap-bar">
            { profiles(props) }
            <label class="count">{ "Bands " }
                <Field kind="number" numbers={(1, MAX_BANDS)} value={choice.bands.to_string()}
                    title="Number of bands shown separately, largest first; all others are combined"
                    on_change={props.change(|choice, typed: String| {
                        if let Ok(bands) = typed.parse::<u32>() {
                            choice.bands = bands.clamp(1, MAX_BANDS);
                        }
                    })} />
            </label>
            { orders(props) }
            { groups(props) }
            <label class="search">
                <span class="visually-hidden">{ "Filter bands" }</span>
                <Field kind="search" placeholder="Filter bands" value={choice.filter.clone()} on_input={filter} />
            </label>
            if choice.alone.is_some() || !choice.hidden.is_empty() {
                <button class="small" onclick={props.change(|choice, _: MouseEvent| {
                    choice.alone = None;
                    choice.hidden.clear();
                })}>{ "Show all bands" }</button>
            }
            <span class="end"><span class="for">{ Extent { range: props.range, complete: props.complete }.title() }</span></span>
            if let Some(profile) = profile {
                for remark in profile.remarks() {
                    <p class="remark">{ remark }</p>
                }
            }
        </div>
    }
}

/// Renders the choice of profile, or the facts about the only one.
fn profiles(props: &BarProps) -> Html {
    let number = props.view.choice.profile as usize;
    let title = |(place, profile): (usize, &ProfileInfo)| {
        let text = format!("{}. {}: {}", place + 1, profile.title(), profile.facts());
        html! { <option value={place.to_string()} selected={place == number}>{ text }</option> }
    };
    if let [profile] = &props.profiles[..] {
        return html! { <span class="about"><strong>{ profile.title() }</strong>{ " " }<span class="faint">{ profile.facts() }</span></span> };
    }
    let onchange = props.change(|choice, event: Event| {
        *choice = HeapChoice {
            profile: value_of(event).parse().unwrap_or_default(),
            bands: choice.bands,
            order: choice.order,
            reversed: choice.reversed,
            ..HeapChoice::default()
        };
    });
    html! {
        <label>
            <span class="visually-hidden">{ "Profile" }</span>
            <select class="heap-profiles" {onchange}>{ for props.profiles.iter().enumerate().map(title) }</select>
        </label>
    }
}

const fn order_title(order: BandOrder) -> &'static str {
    match order {
        BandOrder::Size => "by size",
        BandOrder::Deviation => "by deviation",
        BandOrder::Name => "by name",
        BandOrder::Growth => "by growth",
    }
}

fn orders(props: &BarProps) -> Html {
    let choice = &props.view.choice;
    let onchange = props.change(|choice, event: Event| {
        choice.order = BandOrder::from_name(&value_of(event)).unwrap_or_default();
    });
    let option = |order: BandOrder| {
        html! { <option value={order.name()} selected={order == choice.order}>{ order_title(order) }</option> }
    };
    let (sign, title) = if choice.reversed {
        ("↑", "Smallest first. Reverse the order")
    } else {
        ("↓", "Largest first, or A to Z. Reverse the order")
    };
    html! {
        <span class="with-turn">
            <label>
                <span class="visually-hidden">{ "Order" }</span>
                <select {onchange}>{ for BandOrder::ALL.into_iter().map(option) }</select>
            </label>
            <button class="icon" {title} aria-label={title} aria-pressed={choice.reversed.to_string()}
                onclick={props.change(|choice, _: MouseEvent| choice.reversed = !choice.reversed)}>{ sign }</button>
        </span>
    }
}

fn groups(props: &BarProps) -> Html {
    let onchange = props.change(|choice, event: Event| {
        choice.group = Grouping::from_name(&value_of(event)).unwrap_or_default();
        // Another grouping invalidates the keys of bands.
        choice.hidden.clear();
        (choice.alone, choice.pinned) = (None, None);
    });
    let option = |group: Grouping| {
        html! { <option value={group.name()} selected={group == props.view.choice.group}>{ group.title() }</option> }
    };
    html! {
        <label>
            <span class="visually-hidden">{ "Groups" }</span>
            <select {onchange} title="Grouping of bands">{ for Grouping::ALL.map(option) }</select>
        </label>
    }
}
