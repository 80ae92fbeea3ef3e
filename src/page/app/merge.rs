//! Merging of logs: the dialog, the worker, and opening of the result.

use std::rc::Rc;

use web_sys::File;
use yew::prelude::*;

use super::App;
use super::notes::Closing;
use super::perform::stem;
use crate::client::{MergeEvent, Merger};
use crate::files::{self, LogFile, Origin, SortedFiles};
use crate::merge::{Merge, MergeStage};
use crate::save;
use crate::update::callback;
use protocol::{MergeOptions, MergeReport};
use views::fingerprint::Fingerprint;
use wasm_bindgen_futures::spawn_local;

/// State of the merge dialog.
pub(super) struct MergeDialog {
    logs: Vec<LogFile>,
    options: MergeOptions,
    stage: MergeStage,
    worker: Option<Merger>,
}

/// Inputs of the last merge, so that it can be redone with other settings.
pub(super) struct MergeInputs {
    /// Fingerprint of the merged log.
    fingerprint: Option<Fingerprint>,
    logs: Vec<LogFile>,
    options: MergeOptions,
}

/// Returns the name of the merged log: `server + client.eventlog`.
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
    /// Opens the merge dialog for these logs.
    pub(super) fn ask_merge(&mut self, logs: Vec<LogFile>) {
        let options = MergeOptions {
            offsets_ns: vec![0; logs.len()],
            name: name_of(&logs),
            ..MergeOptions::default()
        };
        self.open_merge_dialog(logs, options);
    }

    fn open_merge_dialog(&mut self, logs: Vec<LogFile>, options: MergeOptions) {
        self.dialogs.merging = Some(MergeDialog {
            logs,
            options,
            stage: MergeStage::Asking,
            worker: None,
        });
    }

    /// Returns the inputs of the open log, if it was merged here.
    pub(super) fn merge_inputs(&self) -> Option<&MergeInputs> {
        let inputs = self.last_merge.as_ref()?;
        let is_open_log =
            inputs.fingerprint.is_some() && inputs.fingerprint == self.log.fingerprint;
        is_open_log.then_some(inputs)
    }

    /// Opens the merge dialog: with the inputs of the open log if it was merged, or else the two compared logs. With
    /// a single log the user chooses more files first.
    pub(super) fn merge(&mut self, ctx: &Context<Self>) {
        if let Some(MergeInputs { logs, options, .. }) = self.merge_inputs() {
            let (logs, options) = (logs.clone(), options.clone());
            return self.open_merge_dialog(logs, options);
        }
        let other = self.other.as_ref().and_then(|other| other.log.file.clone());
        match (self.log.file.clone(), other) {
            (Some(own), Some(other)) => self.ask_merge(vec![own, other]),
            _ => {
                self.dialogs.merge_next = true;
                self.dialogs.compare_next = false;
                self.choose(ctx);
            }
        }
    }

    /// Opens the merge dialog if the chosen files are to be merged; returns whether it did.
    pub(super) fn try_ask_merge(&mut self, sorted: &mut SortedFiles) -> bool {
        let is_merge = std::mem::take(&mut self.dialogs.merge_next) && self.log.has_log();
        let own = self.log.file.clone().filter(|_| is_merge);
        if sorted.logs.is_empty() || (own.is_none() && sorted.logs.len() < 3) {
            return false;
        }
        let logs = own.into_iter().chain(sorted.logs.drain(..)).collect();
        self.ask_merge(logs);
        true
    }

    pub(super) fn view_merge(&self, ctx: &Context<Self>) -> Html {
        let Some(merging) = &self.dialogs.merging else {
            return Html::default();
        };
        let names: Vec<String> = merging.logs.iter().map(|log| log.file.name()).collect();
        html! {
            <Merge {names} options={merging.options.clone()} stage={merging.stage.clone()}
                on_merge={callback(ctx, Self::start_merge)} on_close={callback(ctx, |app, _, ()| app.dialogs.merging.take().is_some())} />
        }
    }

    fn start_merge(&mut self, ctx: &Context<Self>, options: MergeOptions) -> bool {
        let Some(merging) = &mut self.dialogs.merging else {
            return false;
        };
        let files: Vec<File> = merging.logs.iter().map(|log| log.file.clone()).collect();
        merging.worker = Merger::start(&files, &options, callback(ctx, Self::on_merge_event));
        merging.options = options;
        merging.stage = match merging.worker {
            Some(_) => MergeStage::Running(0),
            None => MergeStage::Failed("The browser could not start another worker.".to_owned()),
        };
        true
    }

    fn on_merge_event(&mut self, ctx: &Context<Self>, event: MergeEvent) -> bool {
        let Some(merging) = &mut self.dialogs.merging else {
            return false;
        };
        match event {
            MergeEvent::Percent(percent) => merging.stage = MergeStage::Running(percent),
            MergeEvent::Failed(why) => {
                merging.worker = None;
                merging.stage = MergeStage::Failed(why);
            }
            MergeEvent::Done(file, report) => {
                merging.worker = None;
                let on_merged = callback(ctx, Self::on_merged);
                spawn_local(async move {
                    let fingerprint = files::fingerprint_of(&file).await;
                    let log = LogFile {
                        file,
                        origin: Origin::Snapshot,
                        fingerprint,
                    };
                    on_merged.emit((log, report));
                });
            }
        }
        true
    }

    /// Opens the merged log, or asks first.
    fn on_merged(&mut self, ctx: &Context<Self>, (log, report): (LogFile, MergeReport)) -> bool {
        let Some(MergeDialog { logs, options, .. }) = self.dialogs.merging.take() else {
            return false;
        };
        let inputs = MergeInputs {
            fingerprint: log.fingerprint,
            logs,
            options,
        };
        self.close_or_ask(ctx, Closing::Merged(log, inputs, report))
    }

    /// Opens the merged log; keeps the view if the open log is the result of an earlier merge.
    pub(super) fn open_merged(
        &mut self,
        ctx: &Context<Self>,
        log: &LogFile,
        inputs: MergeInputs,
        report: &MergeReport,
    ) {
        let is_again = self.merge_inputs().is_some();
        let saved_notes = is_again.then(|| Rc::clone(&self.saved_notes));
        if is_again {
            self.sync_view();
            let mut link = self.link();
            link.fingerprint = log.fingerprint;
            self.pending_link = Some(link);
        }
        self.last_merge = Some(inputs);
        self.open(ctx, log);
        self.log.saved_notes = saved_notes;
        if !report.notes.is_empty() {
            self.dialogs.notice = Some(report.notes.join(" "));
        }
    }

    /// Saves the file of the open log, for example a merged one.
    pub(super) fn save_log(&mut self) {
        if let Some(log) = &self.log.file {
            // The browser reports failures itself.
            let _ = save::save_blob(&log.file.name(), &log.file);
        }
    }
}
