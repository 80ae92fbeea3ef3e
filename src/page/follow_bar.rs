//! The line above the timeline of a log that is followed.

use gloo_timers::callback::Interval;
use js_sys::Date;
use yew::prelude::*;

use views::actions::Action;

/// How often it says anew when the log grew.
const TELL_MS: u32 = 1_000;

/// What goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// The log is followed.
    Follows,
    /// It is not, until that is wanted again.
    Paused,
    /// Its file is not there.
    Waits,
}

#[derive(Properties, PartialEq)]
pub(super) struct FollowBarProps {
    pub(super) says: Says,
    /// From when to when the log goes, in words.
    pub(super) length: AttrValue,
    /// When more of it was read last, in milliseconds since 1970.
    pub(super) grew_ms: f64,
    /// Whether the view goes along with the end.
    pub(super) sticks: bool,
    pub(super) on_action: Callback<Action>,
}

/// `3 s ago`.
fn ago(since_ms: f64) -> String {
    let seconds = ((Date::now() - since_ms) / 1000.0).max(0.0) as u64;
    match (seconds / 60, seconds % 60) {
        (0, 0) => "just now".to_owned(),
        (0, seconds) => format!("{seconds} s ago"),
        (minutes, seconds) => format!("{minutes} min {seconds} s ago"),
    }
}

/// The line.
#[component]
pub(super) fn FollowBar(props: &FollowBarProps) -> Html {
    let told = use_state(|| 0_u32);
    {
        let told = told.setter();
        use_effect_with((), move |()| {
            let mut times = 0;
            let tells = Interval::new(TELL_MS, move || {
                times += 1;
                told.set(times);
            });
            move || drop(tells)
        });
    }
    let (word, goes_on) = match props.says {
        Says::Follows => ("Following", "Pause"),
        Says::Paused => ("Paused", "Go on"),
        Says::Waits => ("Waiting for the file, which is not there", "Pause"),
    };
    let does = |action: Action| props.on_action.reform(move |_: MouseEvent| action);
    html! {
        <div class={classes!("following", (props.says == Says::Follows).then_some("live"))}>
            <span class="dot" aria-hidden="true" />
            <strong role="status">{ word }</strong>
            <span class="numbers">{ &props.length }{ " read" }</span>
            <span class="faint grew">{ "grew " }{ ago(props.grew_ms) }</span>
            <span class="choices">
                <button class="small" onclick={does(Action::Follow)} title="G">{ goes_on }</button>
                <button class="small" aria-pressed={props.sticks.to_string()} onclick={does(Action::StickToEnd)}
                    title="The view goes along with the end of the log, until you move away (Shift+G)">{ "Stick to the end" }</button>
                <button class="small" onclick={does(Action::StopFollowing)}>{ "Stop" }</button>
            </span>
        </div>
    }
}
