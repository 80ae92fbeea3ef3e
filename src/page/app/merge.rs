//! Several logs as one: the dialog, the worker that does it, and the log that comes of it.

use web_sys::File;
use yew::prelude::*;

use super::App;
use super::perform::stem;
use crate::client::{Merged, Merger};
use crate::files::{self, LogFile, Origin, Sorted};
use crate::merge::{Merge, MergeStage};
use crate::save;
use crate::update::callback;
use protocol::{MergeReport, MergeWish};
use views::fingerprint::Fingerprint;
use wasm_bindgen_futures::spawn_local;

/// Logs that are to be merged.
pub(super) struct Merging {
    logs: Vec<LogFile>,
    wish: MergeWish,
    stage: MergeStage,
    worker: Option<Merger>,
}

/// How the merged log came to be that was opened last: it can be made otherwise.
pub(super) struct MadeOf {
    /// Of the new log.
    fingerprint: Option<Fingerprint>,
    logs: Vec<LogFile>,
    wish: MergeWish,
}

/// What a log of these is called: `server + client`.
fn name_of(logs: &[LogFile]) -> String {
    let names: Vec<String> = logs
        .iter()
        .map(|log| stem(&log.file.name()).to_owned())
        .collect();
    let name = match &names[..] {
        [first, .., _] if names.len() > 3 => format!("{first} + {} others", names.len() - 1),
        _ => names.join(" + "),
    };
    format!("{name}.eventlog")
}

impl App {
    /// Asks how these logs are to be merged.
    pub(super) fn ask_merge(&mut self, logs: Vec<LogFile>) {
        let wish = MergeWish {
            offsets_ns: vec![0; logs.len()],
            name: name_of(&logs),
            ..MergeWish::default()
        };
        self.dialogs.merging = Some(Merging {
            logs,
            wish,
            stage: MergeStage::Asking,
            worker: None,
        });
    }

    /// The logs that the open one was made of, if it was merged here.
    fn made_of(&self) -> Option<&MadeOf> {
        let made = self.made_of.as_ref()?;
        let is_it = made.fingerprint.is_some() && made.fingerprint == self.log.fingerprint;
        is_it.then_some(made)
    }

    /// Asks how to merge: the open log anew if it was merged, or else the two that are compared, or
    /// else the open one with others, which are to be chosen.
    pub(super) fn merge(&mut self, ctx: &Context<Self>) {
        if let Some(MadeOf { logs, wish, .. }) = self.made_of() {
            let (logs, wish) = (logs.clone(), wish.clone());
            self.dialogs.merging = Some(Merging {
                logs,
                wish,
                stage: MergeStage::Asking,
                worker: None,
            });
            return;
        }
        let other = self.other.as_ref().and_then(|other| other.log.file.clone());
        match (self.log.file.clone(), other) {
            (Some(own), Some(other)) => self.ask_merge(vec![own, other]),
            _ => {
                self.dialogs.merges = true;
                self.choose(ctx);
            }
        }
    }

    /// Whether files that came are to be merged; then it is asked how.
    pub(super) fn came_to_merge(&mut self, sorted: &mut Sorted) -> bool {
        let wanted = std::mem::take(&mut self.dialogs.merges) && self.log.is_there();
        let own = self.log.file.clone().filter(|_| wanted);
        if sorted.logs.is_empty() || (own.is_none() && sorted.logs.len() < 3) {
            return false;
        }
        let logs = own.into_iter().chain(sorted.logs.drain(..)).collect();
        self.ask_merge(logs);
        true
    }

    /// The dialog, while it is open.
    pub(super) fn view_merge(&self, ctx: &Context<Self>) -> Html {
        let Some(merging) = &self.dialogs.merging else {
            return Html::default();
        };
        let names: Vec<String> = merging.logs.iter().map(|log| log.file.name()).collect();
        html! {
            <Merge {names} wish={merging.wish.clone()} stage={merging.stage.clone()}
                on_merge={callback(ctx, Self::begin_merge)} on_close={callback(ctx, |app, _, ()| app.dialogs.merging.take().is_some())} />
        }
    }

    fn begin_merge(&mut self, ctx: &Context<Self>, wish: MergeWish) -> bool {
        let Some(merging) = &mut self.dialogs.merging else {
            return false;
        };
        let files: Vec<File> = merging.logs.iter().map(|log| log.file.clone()).collect();
        merging.worker = Merger::start(&files, &wish, callback(ctx, Self::hear_merger));
        merging.wish = wish;
        merging.stage = match merging.worker {
            Some(_) => MergeStage::Running(0),
            None => MergeStage::Failed("The browser starts no further worker.".to_owned()),
        };
        true
    }

    fn hear_merger(&mut self, ctx: &Context<Self>, merged: Merged) -> bool {
        let Some(merging) = &mut self.dialogs.merging else {
            return false;
        };
        match merged {
            Merged::Percent(percent) => merging.stage = MergeStage::Running(percent),
            Merged::Failed(why) => {
                merging.worker = None;
                merging.stage = MergeStage::Failed(why);
            }
            Merged::Done(file, report) => {
                merging.worker = None;
                let came = callback(ctx, Self::merged);
                spawn_local(async move {
                    let fingerprint = files::fingerprint_of(&file).await;
                    let log = LogFile {
                        file,
                        origin: Origin::Gone,
                        fingerprint,
                    };
                    came.emit((log, report));
                });
            }
        }
        true
    }

    /// Opens the new log; the view of a log that was merged otherwise before stays.
    fn merged(&mut self, ctx: &Context<Self>, (log, report): (LogFile, MergeReport)) -> bool {
        let Some(Merging { logs, wish, .. }) = self.dialogs.merging.take() else {
            return false;
        };
        if self.made_of().is_some() {
            self.look();
            let mut link = self.link();
            link.fingerprint = log.fingerprint;
            self.wanted = Some(link);
        }
        self.made_of = Some(MadeOf {
            fingerprint: log.fingerprint,
            logs,
            wish,
        });
        self.open(ctx, &log);
        if !report.said.is_empty() {
            self.dialogs.notice = Some(report.said.join(" "));
        }
        true
    }

    /// Saves the file of the open log: of logs that were merged, the new one.
    pub(super) fn save_log(&mut self) {
        if let Some(log) = &self.log.file {
            // Only the browser can say why not, and does.
            let _ = save::save_blob(&log.file.name(), &log.file);
        }
    }
}
