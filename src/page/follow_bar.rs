//! Status bar above the timeline of a followed log.

use gloo_timers::callback::Interval;
use js_sys::Date;
use yew::prelude::*;

use views::actions::Action;

/// Interval for updating the time since the last growth, in milliseconds.
const TICK_MS: u32 = 1_000;

/// State of following a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowStatus {
    /// The log is being followed.
    Following,
    /// Following is paused until the user resumes it.
    Paused,
    /// The file is missing.
    FileMissing,
}

#[derive(Properties, PartialEq)]
pub(super) struct FollowBarProps {
    pub(super) status: FollowStatus,
    /// Time range of the log, as text.
    pub(super) length: AttrValue,
    /// Time at which more of the log was last read, in milliseconds since 1970.
    pub(super) grew_ms: f64,
    /// Whether the view stays at the end of the log as it grows.
    pub(super) sticks_to_end: bool,
    pub(super) on_action: Callback<Action>,
}

/// Formats the time since a moment: `3 s ago`.
fn ago(since_ms: f64) -> String {
    let seconds = ((Date::now() - since_ms) / 1000.0).max(0.0) as u64;
    match (seconds / 60, seconds % 60) {
        (0, 0) => "just now".to_owned(),
        (0, seconds) => format!("{seconds} s ago"),
        (minutes, seconds) => format!("{minutes} min {seconds} s ago"),
    }
}

/// Status bar with buttons to pause, stick to the end and stop.
#[component]
pub(super) fn FollowBar(props: &FollowBarProps) -> Html {
    let ticks = use_state(|| 0_u32);
    {
        let ticks = ticks.setter();
        use_effect_with((), move |()| {
            let mut times = 0;
            let timer = Interval::new(TICK_MS, move || {
                times += 1;
                ticks.set(times);
            });
            move || drop(timer)
        });
    }
    let (status_text, pause_label) = match props.status {
        FollowStatus::Following => ("Following", "Pause"),
        FollowStatus::Paused => ("Paused", "Resume"),
        FollowStatus::FileMissing => ("Waiting for the file, which does not exist", "Pause"),
    };
    let does = |action: Action| props.on_action.reform(move |_: MouseEvent| action);
    html! {
        <div class={classes!("following", (props.status == FollowStatus::Following).then_some("live"))}>
            <span class="dot" aria-hidden="true" />
            <strong role="status">{ status_text }</strong>
            <span class="numbers">{ &props.length }{ " read" }</span>
            <span class="faint grew">{ "grew " }{ ago(props.grew_ms) }</span>
            <span class="choices">
                <button class="small" onclick={does(Action::Follow)} title="G">{ pause_label }</button>
                <button class="small" aria-pressed={props.sticks_to_end.to_string()} onclick={does(Action::StickToEnd)}
                    title="Keep the end of the log in view until you move away (Shift+G)">{ "Stick to the end" }</button>
                <button class="small" onclick={does(Action::StopFollowing)}>{ "Stop" }</button>
            </span>
        </div>
    }
}
