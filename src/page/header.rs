//! Header bar above the timeline, loading indicator and warnings.

use yew::prelude::*;

use super::field::Field;
use super::file_name::file_name;
use super::menu::Menu;
use super::open_log::OpenLog;
use super::theme::Choice;
use eventlog::{Progress, Stage};
use scene::format;
use session::Overview;
use views::actions::Action;
use views::panels::PANELS;
use views::words::diagnostics::whole_sentence;

#[derive(Properties, PartialEq)]
pub(super) struct HeaderProps {
    pub(super) name: AttrValue,
    /// Key facts about the log, as short text.
    pub(super) facts: AttrValue,
    pub(super) filter: AttrValue,
    pub(super) filter_node: NodeRef,
    pub(super) theme: Choice,
    pub(super) copied: bool,
    /// Whether the log may be growing, so that following it is offered.
    pub(super) can_follow: bool,
    pub(super) on_filter: Callback<String>,
    pub(super) on_action: Callback<Action>,
}

/// Menu entries, which replace the buttons on narrow screens.
const MENU: [Action; 8] = [
    Action::Open,
    Action::Compare,
    Action::Follow,
    Action::Share,
    Action::SaveReport,
    Action::Palette,
    Action::Theme,
    Action::Help,
];

/// Logo of the program.
#[component]
fn Logo() -> Html {
    html! {
        <svg class="logo" viewBox="0 0 24 24" aria-hidden="true">
            <rect class="running" x="2" y="4" width="11" height="4" rx="1" />
            <rect class="gc" x="14" y="4" width="6" height="4" rx="1" />
            <rect class="gc" x="2" y="10" width="4" height="4" rx="1" />
            <rect class="running" x="7" y="10" width="15" height="4" rx="1" />
            <rect class="accent" x="5" y="16" width="9" height="4" rx="1" />
            <rect class="running" x="15" y="16" width="5" height="4" rx="1" />
        </svg>
    }
}

/// Header bar: file name, track filter and main actions.
#[component]
pub(super) fn Header(props: &HeaderProps) -> Html {
    let does = |action: Action| props.on_action.reform(move |_: MouseEvent| action);
    let theme = match props.theme {
        Choice::System => "Theme: system",
        Choice::Light => "Theme: light",
        Choice::Dark => "Theme: dark",
    };
    let home = {
        let on_action = props.on_action.clone();
        Callback::from(move |event: MouseEvent| {
            // With a modifier key, the browser opens the link in another tab.
            if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                event.prevent_default();
                on_action.emit(Action::Home);
            }
        })
    };
    html! {
        <header class="bar">
            <a class="brand" href="./" onclick={home} title="Start page; the log stays open">
                <Logo /><span class="wide-only">{ "Eventscope" }</span><span class="visually-hidden">{ "start page" }</span>
            </a>
            <div class="what">
                <h1 class="file" title={props.name.clone()} aria-label={props.name.clone()}>{ file_name(&props.name) }</h1>
                if props.can_follow {
                    <button class="follow small" onclick={does(Action::Follow)} title="Read more as the file grows (G)">{ "Follow" }</button>
                }
                <span class="facts">{ &props.facts }</span>
            </div>
            <label class="search">
                <span class="visually-hidden">{ "Filter tracks by name, threads by label or number" }</span>
                <Field node={props.filter_node.clone()} kind="search" placeholder="Filter tracks" value={props.filter.clone()} on_input={props.on_filter.clone()} />
                <kbd aria-hidden="true">{ "/" }</kbd>
            </label>
            <span class="actions">
                <button onclick={does(Action::Open)}>{ "Open…" }</button>
                <button onclick={does(Action::Compare)} title="Compare with another log (V)">{ "Compare…" }</button>
                <button class="primary" onclick={does(Action::Share)}>{ if props.copied { "Copied" } else { "Share link" } }</button>
                <button class="icon" onclick={does(Action::Palette)} title="Commands (Ctrl+K)" aria-label="Commands">{ "⌘" }</button>
                <button class="icon" onclick={does(Action::Theme)} title={theme} aria-label={theme}>{ "◐" }</button>
                <button class="icon" onclick={does(Action::Help)} title="Help (?)" aria-label="Help">{ "?" }</button>
            </span>
            <Menu id="page-menu" label={if props.copied { "Link copied" } else { "Menu" }} title="Open, compare, share and more"
                class={classes!("menu-button", "page-menu")} closes=true>
                <ul>{ for MENU.iter().filter_map(|action| choice(*action, does(*action))) }</ul>
            </Menu>
            <span class="visually-hidden" role="status">{ if props.copied { "Link copied. It contains settings only, not the log." } else { "" } }</span>
        </header>
    }
}

/// Renders a menu entry.
fn choice(action: Action, onclick: Callback<MouseEvent>) -> Option<Html> {
    let title = action.binding(PANELS)?.title;
    Some(html! { <li><button class="choice" {onclick}>{ title }</button></li> })
}

/// Renders the progress of loading with a cancel button.
pub(super) fn loading(log: &OpenLog, on_cancel: &Callback<()>) -> Html {
    let Progress { stage, done, total } = log.progress;
    let what = match stage {
        Stage::Reading => "Reading",
        Stage::Inflating => "Inflating",
        Stage::Indexing => "Finding the blocks of",
        Stage::Analyzing => "Analyzing",
    };
    let cancel = on_cancel.reform(|_: MouseEvent| ());
    html! {
        <div class="loading">
            <label for="loading-progress">{ what }{ " " }<strong>{ &log.name }</strong></label>
            <progress id="loading-progress" max={total.max(1).to_string()} value={done.to_string()} />
            <span class="numbers">
                { format!("{} of {}", format::bytes(done), format::bytes(total)) }
                if log.events > 0 {
                    { format!(" · {} events", format::count(log.events)) }
                }
                if stage == Stage::Analyzing {
                    <span title="Bar height: bytes logged in that time.">{ " · gray: not read yet" }</span>
                }
            </span>
            <button onclick={cancel}>{ "Cancel" }</button>
        </div>
    }
}

/// Renders a summary of the log's warnings, expandable to a list; `on_all` opens the list of all diagnostics.
pub(super) fn warnings(overview: &Overview, on_all: &Callback<()>) -> Html {
    let Some(first) = overview.warnings.first() else {
        return Html::default();
    };
    let rest = overview.warning_count.saturating_sub(1);
    let summary = if rest == 0 {
        whole_sentence(first)
    } else {
        format!(
            "{} And {} more.",
            whole_sentence(first),
            format::count(rest)
        )
    };
    let items = overview.warnings.iter().map(|warning| {
        let at = warning
            .start()
            .map(|at| format!(" At {}.", format::time(at)))
            .unwrap_or_default();
        html! { <li>{ whole_sentence(warning) }{ at }</li> }
    });
    let unlisted = overview
        .warning_count
        .saturating_sub(overview.warnings.len() as u64);
    let all = on_all.reform(|_: MouseEvent| ());
    html! {
        <div class={classes!("warnings", overview.damaged.then_some("damaged"))}>
            <details>
                <summary>
                    if overview.damaged {
                        <strong>{ "Part of this log is missing. " }</strong>
                    }
                    { summary }
                </summary>
                <ul>{ for items }</ul>
                if unlisted > 0 {
                    <p>{ format!("{} more are not listed.", format::count(unlisted)) }</p>
                }
            </details>
            <button onclick={all}>{ "All diagnostics" }</button>
        </div>
    }
}
