//! Files that are dropped or chosen: a log is opened, an executable names
//! addresses.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::File;
use yew::prelude::*;

use super::log::LogNews;
use super::{App, Msg, TimelineState};
use crate::ui::files::{self, Dropped, Sorted};
use views::view::View;

/// What happens with files.
pub(in crate::ui) enum FileNews {
    /// A log to open.
    Open(File),
    Sample(&'static str),
    SampleFailed(String),
    Dropped(Dropped),
    /// Files were dropped or chosen.
    Chosen(Vec<File>),
    /// It is known what these files are.
    Sorted(Sorted),
    Dragging(bool),
}

impl App {
    pub(super) fn file_news(&mut self, ctx: &Context<Self>, news: FileNews) -> bool {
        match news {
            FileNews::Open(file) => self.open(ctx, &file),
            FileNews::Sample(path) => {
                let link = ctx.link().clone();
                spawn_local(async move {
                    link.send_message(Msg::Files(match files::fetch_sample(path).await {
                        Ok(file) => FileNews::Open(file),
                        Err(why) => FileNews::SampleFailed(why),
                    }));
                });
                return false;
            }
            FileNews::SampleFailed(why) => {
                self.dialogs.error = Some(format!(
                    "The sample could not be fetched: {why}. Reload the page and try again."
                ));
            }
            FileNews::Dropped(dropped) => self.dropped(ctx, dropped),
            FileNews::Chosen(files) => {
                let link = ctx.link().clone();
                spawn_local(async move {
                    let sorted = files::sort(files).await;
                    link.send_message(Msg::Files(FileNews::Sorted(sorted)));
                });
                return false;
            }
            FileNews::Sorted(sorted) => self.sorted(ctx, sorted),
            FileNews::Dragging(dragging) => {
                let changed = self.dialogs.dragging != dragging;
                self.dialogs.dragging = dragging;
                return changed;
            }
        }
        true
    }

    /// Opens a log in place of the one that is open.
    fn open(&mut self, ctx: &Context<Self>, file: &File) {
        self.log = self.log.next(Some(file.name()));
        self.dialogs.error = None;
        self.dialogs.notice = None;
        self.timeline = TimelineState::default();
        self.panel.marked = Rc::default();
        self.panel.wish = None;
        // What is about single moments and tracks of the log before goes.
        let mut view = View::clone(self.views.view());
        view.visible = None;
        view.selection = None;
        view.selected = None;
        view.tracks.selected.clear();
        view.notes = Rc::default();
        self.viewer.set_notes(&view.notes);
        self.views.set(view);
        self.views.restart();
        self.log_client.close();
        if let Some(wanted) = &self.wanted {
            // Its spans may be what the link leads to.
            self.client.set_span_prefixes(&wanted.view.tracks.prefixes);
        }
        self.log_client = self.client.open(file);
        self.viewer.reset(self.log_client.clone());
        let (generation, file, link) = (self.log.generation, file.clone(), ctx.link().clone());
        spawn_local(async move {
            let print = files::fingerprint_of(&file).await;
            link.send_message(Msg::Log(LogNews::Fingerprint(generation, print)));
        });
    }

    fn dropped(&mut self, ctx: &Context<Self>, dropped: Dropped) {
        self.dialogs.dragging = false;
        match dropped {
            Dropped::Files(files) => {
                ctx.link().send_message(Msg::Files(FileNews::Chosen(files)));
            }
            Dropped::Folder => {
                self.fail("That is a folder. Drop the .eventlog file that is in it.".to_owned())
            }
            Dropped::Nothing => self.fail("That is no file. Drop an .eventlog file.".to_owned()),
        }
    }

    /// Opens the log among some files; an executable gives names to it.
    fn sorted(&mut self, ctx: &Context<Self>, sorted: Sorted) {
        if let Some(symbols) = &sorted.symbols {
            self.client.set_symbols(symbols);
        }
        if let Some(log) = &sorted.log {
            self.open(ctx, log);
        }
        self.dialogs.notice = match (sorted.unreadable, sorted.more) {
            (Some(why), _) => return self.fail(why),
            (None, 0) => return,
            (None, 1) => Some("1 other file ignored: one log is shown at a time.".to_owned()),
            (None, more) => Some(format!(
                "{more} other files ignored: one log is shown at a time."
            )),
        };
    }

    /// Says why something did not work, without losing what is open.
    fn fail(&mut self, why: String) {
        if self.log.is_open() {
            self.dialogs.notice = Some(why);
        } else {
            self.dialogs.error = Some(why);
            self.log = self.log.next(None);
        }
    }
}
