//! Saving a report of the log that the panels are about.

use js_sys::Array;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::App;
use super::perform::stem;
use crate::save::save;
use crate::update::callback;
use views::report::{Wanted, report};

impl App {
    /// Asks for all that the report has, writes and saves it.
    pub(super) fn save_report(&mut self, ctx: &Context<Self>) {
        if !self.log.overview.complete {
            let why = "A report can be saved when the log is read to its end.";
            self.dialogs.notice = Some(why.to_owned());
            return;
        }
        self.look();
        let wanted = Wanted {
            name: self.log.name.clone(),
            range: self.views.view().selection,
        };
        let (client, overview) = (self.log_client.clone(), self.log.overview.shared());
        let said = callback(ctx, |app, _, said: String| {
            app.dialogs.notice = Some(said);
            true
        });
        self.dialogs.notice = Some("The report is being written…".to_owned());
        spawn_local(async move {
            let text = report(&client, overview, &wanted).await;
            let name = format!("{}.html", stem(&wanted.name));
            said.emit(match text {
                None => "The log was closed before its report was written.".to_owned(),
                Some(text) => match save(&name, "text/html", &Array::of1(&text.into())) {
                    Ok(()) => format!("The report is saved as {name}."),
                    Err(_) => "The browser could not save the report.".to_owned(),
                },
            });
        });
    }
}
