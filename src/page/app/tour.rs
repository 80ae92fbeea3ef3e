//! The guided tour: opens a sample and applies the link of each step.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::App;
use super::notes::Closing;
use crate::files::{self, LogFile, SortedFiles};
use crate::tour::Tour;
use crate::update::callback;
use views::page_error::PageError;
use views::panels::PANELS;
use views::share::Link;
use views::tour::{SAMPLE, STEPS, sample};

impl App {
    /// Starts the tour; fetches the sample unless it is open.
    pub(super) fn start_tour(&mut self, ctx: &Context<Self>) -> bool {
        self.dialogs.help = None;
        if self.log.is_open() && self.other.is_none() && self.log.fingerprint == sample() {
            return self.show_tour_step(ctx, 0);
        }
        let on_sample = callback(ctx, Self::on_tour_sample);
        spawn_local(async move { on_sample.emit(files::sample(SAMPLE).await) });
        false
    }

    fn on_tour_sample(
        &mut self,
        ctx: &Context<Self>,
        sample: Result<SortedFiles, PageError>,
    ) -> bool {
        let sample = match sample {
            Ok(sorted) => sorted.logs.into_iter().next(),
            Err(why) => {
                self.show_error(why);
                return true;
            }
        };
        sample.is_some_and(|file| self.close_or_ask(ctx, Closing::Tour(file)))
    }

    /// Opens the sample at the first step.
    pub(super) fn open_tour(&mut self, ctx: &Context<Self>, file: &LogFile) {
        let Some(step) = STEPS.first() else { return };
        self.pending_link = Some(Link {
            // Some hosts decompress the sample in transit: same log, different fingerprint.
            fingerprint: file.fingerprint,
            ..step.link(PANELS)
        });
        self.open(ctx, file);
        self.tour_step = Some(0);
    }

    /// Shows the step with this index; ends the tour after the last one.
    fn show_tour_step(&mut self, ctx: &Context<Self>, at: usize) -> bool {
        let Some(step) = STEPS.get(at) else {
            return self.end_tour(ctx, ());
        };
        self.tour_step = Some(at);
        self.is_home = false;
        let mut link = Link {
            fingerprint: self.log.fingerprint,
            ..step.link(PANELS)
        };
        // The steps have no notes of their own.
        link.view.notes = Rc::clone(&self.views.view().notes);
        self.apply_link(ctx, link);
        true
    }

    /// Ends the tour but keeps what it has opened; returns false if no tour was running.
    pub(super) fn end_tour(&mut self, _: &Context<Self>, (): ()) -> bool {
        self.tour_step.take().is_some()
    }

    pub(super) fn view_tour(&self, ctx: &Context<Self>) -> Html {
        let Some(at) = self.tour_step else {
            return Html::default();
        };
        html! { <Tour {at} on_step={callback(ctx, Self::show_tour_step)} on_end={callback(ctx, Self::end_tour)} /> }
    }
}
