//! Files that are dropped or chosen: a log is opened, an executable names
//! addresses.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::File;
use yew::prelude::*;

use super::{App, TimelineState};
use crate::ui::act::on;
use crate::ui::files::{self, Dropped, Sorted};
use views::heap::choice::HeapChoice;
use views::heap::settings::HeapView;
use views::scene::format::many;
use views::view::View;

impl App {
    pub(super) fn open_sample(&mut self, ctx: &Context<Self>, path: &'static str) -> bool {
        let opened = on(ctx, Self::sample_came);
        spawn_local(async move { opened.emit(files::fetch_sample(path).await) });
        false
    }

    fn sample_came(&mut self, ctx: &Context<Self>, sample: Result<File, String>) -> bool {
        match sample {
            Ok(file) => self.open(ctx, &file),
            Err(why) => {
                self.dialogs.error = Some(format!(
                    "The sample could not be fetched: {why}. Reload the page and try again."
                ));
            }
        }
        true
    }

    /// Files were dropped or chosen: it has to be found out what they are.
    pub(super) fn chosen(&mut self, ctx: &Context<Self>, files: Vec<File>) -> bool {
        let sorted = on(ctx, Self::sorted);
        spawn_local(async move { sorted.emit(files::sort(files).await) });
        false
    }

    pub(super) fn dragging(&mut self, _: &Context<Self>, dragging: bool) -> bool {
        std::mem::replace(&mut self.dialogs.dragging, dragging) != dragging
    }

    /// Opens a log in place of the one that is open.
    fn open(&mut self, ctx: &Context<Self>, file: &File) {
        self.log = self.log.next(Some(file.name()));
        self.dialogs.error = None;
        self.dialogs.notice = None;
        self.timeline = TimelineState::default();
        self.pauses.overview = None;
        self.panel_follows();
        self.panel.marked = Rc::default();
        self.panel.wish = None;
        // What is about single moments and tracks of the log before goes.
        let mut view = View::clone(self.views.view());
        view.visible = None;
        view.selection = None;
        view.selected = None;
        view.tracks.selected.clear();
        view.notes = Rc::default();
        let heap = view.settings.get::<HeapView>();
        view.settings.set(HeapView {
            choice: HeapChoice::default(),
            ..heap
        });
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
        let (generation, file, known) = (self.log.generation, file.clone(), on(ctx, Self::known));
        spawn_local(async move {
            known.emit((generation, files::fingerprint_of(&file).await));
        });
    }

    pub(super) fn dropped(&mut self, ctx: &Context<Self>, dropped: Dropped) -> bool {
        self.dialogs.dragging = false;
        match dropped {
            Dropped::Files(files) => {
                self.chosen(ctx, files);
            }
            Dropped::Folder => {
                self.fail("That is a folder. Drop the .eventlog or .hp file that is in it.")
            }
            Dropped::Nothing => self.fail("That is no file. Drop an .eventlog or .hp file."),
        }
        true
    }

    /// Opens the log among some files; an executable gives names to it.
    fn sorted(&mut self, ctx: &Context<Self>, sorted: Sorted) -> bool {
        if let Some(symbols) = &sorted.symbols {
            self.client.set_symbols(symbols);
        }
        if let Some(log) = &sorted.log {
            self.open(ctx, log);
        }
        if let Some(why) = sorted.unreadable {
            self.fail(why);
        } else if sorted.more > 0 {
            let files = many(sorted.more as u64, "other file");
            self.dialogs.notice = Some(format!("{files} ignored: one log is shown at a time."));
        }
        true
    }

    /// Says why something did not work, without losing what is open.
    fn fail(&mut self, why: impl Into<String>) {
        if self.log.is_open() {
            self.dialogs.notice = Some(why.into());
        } else {
            self.dialogs.error = Some(why.into());
            self.log = self.log.next(None);
        }
    }
}
