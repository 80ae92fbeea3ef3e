//! Saving of an HTML report about the primary log.

use js_sys::Array;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::App;
use super::perform::stem;
use crate::save::save;
use crate::update::callback;
use views::report::{ReportSubject, report};

impl App {
    /// Queries the contents of the report, writes it as HTML and saves it.
    pub(super) fn save_report(&mut self, ctx: &Context<Self>) {
        if !self.log.overview.complete {
            let why = "Wait until the log is read, then save the report.";
            self.dialogs.notice = Some(why.to_owned());
            return;
        }
        self.sync_view();
        let subject = ReportSubject {
            name: self.log.name.clone(),
            range: self.views.view().selection,
        };
        let (client, overview) = (self.log_client.clone(), self.log.overview.shared());
        let said = callback(ctx, |app, _, said: String| {
            app.dialogs.notice = Some(said);
            true
        });
        self.dialogs.notice = Some("Writing the report…".to_owned());
        spawn_local(async move {
            let text = report(&client, overview, &subject).await;
            let name = format!("{}.html", stem(&subject.name));
            said.emit(match text {
                None => "The report was not written: the log was closed.".to_owned(),
                Some(text) => match save(&name, "text/html", &Array::of1(&text.into())) {
                    Ok(()) => format!("Report saved as {name}."),
                    Err(_) => "The browser could not save the report.".to_owned(),
                },
            });
        });
    }
}
