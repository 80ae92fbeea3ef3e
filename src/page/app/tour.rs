//! The tour: a sample is opened, and each step of it is a link that is followed.

use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::App;
use crate::files::{self, Sorted};
use crate::tour::Tour;
use crate::update::callback;
use views::panels::PANELS;
use views::share::Link;
use views::tour::{SAMPLE, STEPS, sample};
use views::trouble::Trouble;

impl App {
    /// Begins the tour: with the sample that is open, or else it is fetched.
    pub(super) fn start_tour(&mut self, ctx: &Context<Self>) -> bool {
        self.dialogs.help = None;
        if self.log.is_open() && self.other.is_none() && self.log.fingerprint == sample() {
            return self.step_tour(ctx, 0);
        }
        let came = callback(ctx, Self::tour_came);
        spawn_local(async move { came.emit(files::sample(SAMPLE).await) });
        false
    }

    fn tour_came(&mut self, ctx: &Context<Self>, came: Result<Sorted, Trouble>) -> bool {
        let sample = match came {
            Ok(sorted) => sorted.logs.into_iter().next(),
            Err(why) => {
                self.fail(why);
                return true;
            }
        };
        if let (Some(file), Some(step)) = (sample, STEPS.first()) {
            // Some hosts inflate the sample on its way: it is the same log, of other bytes.
            let fingerprint = file.fingerprint;
            self.wanted = Some(Link {
                fingerprint,
                ..step.link(PANELS)
            });
            self.open(ctx, &file);
            self.touring = Some(0);
        }
        true
    }

    /// Shows a step; beyond the last one the tour is over.
    fn step_tour(&mut self, ctx: &Context<Self>, at: usize) -> bool {
        let Some(step) = STEPS.get(at) else {
            return self.end_tour(ctx, ());
        };
        self.touring = Some(at);
        self.is_home = false;
        let link = Link {
            fingerprint: self.log.fingerprint,
            ..step.link(PANELS)
        };
        self.want(ctx, link);
        true
    }

    /// Ends the tour; what it showed stays. False if there was none.
    pub(super) fn end_tour(&mut self, _: &Context<Self>, (): ()) -> bool {
        self.touring.take().is_some()
    }

    pub(super) fn view_tour(&self, ctx: &Context<Self>) -> Html {
        let Some(at) = self.touring else {
            return Html::default();
        };
        html! { <Tour {at} on_step={callback(ctx, Self::step_tour)} on_end={callback(ctx, Self::end_tour)} /> }
    }
}
