//! Files that are dropped or chosen, or come with the page: a log is opened, an
//! executable names addresses.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::File;
use yew::prelude::*;

use super::{App, TimelineState};
use crate::ui::act::on;
use crate::ui::beside::Answer;
use crate::ui::client::LogClient;
use crate::ui::files::{self, Dropped, LogFile, Sorted};
use views::beside::Role;
use views::heap::choice::HeapChoice;
use views::heap::settings::HeapView;
use views::scene::format::many;
use views::view::View;
use views::view::compare::CompareView;

impl App {
    pub(super) fn open_sample(&mut self, ctx: &Context<Self>, path: &'static str) -> bool {
        let opened = on(ctx, Self::sample_came);
        spawn_local(async move { opened.emit(files::fetch(path).await) });
        false
    }

    fn sample_came(&mut self, ctx: &Context<Self>, sample: Result<File, String>) -> bool {
        match sample {
            Ok(file) => {
                self.chosen(ctx, vec![file]);
            }
            Err(why) => {
                self.dialogs.error = Some(format!(
                    "The sample could not be fetched: {why}. Reload the page and try again."
                ));
            }
        }
        true
    }

    /// Opens the files that the page is served with, if it is with any.
    pub(super) fn open_served(&mut self, ctx: &Context<Self>) {
        let addresses = files::served();
        if addresses.is_empty() {
            return;
        }
        let names: Vec<String> = addresses.iter().map(|at| files::name_of(at)).collect();
        self.dialogs.notice = Some(format!("Fetching {}…", names.join(" and ")));
        let came = on(ctx, Self::served_came);
        spawn_local(async move {
            let mut files = Vec::new();
            for address in addresses {
                match files::fetch(&address).await {
                    Ok(file) => files.push(file),
                    Err(why) => {
                        return came.emit(Err(format!(
                            "“{}” could not be fetched: {why}. Is eventscope view still running? A large file needs room on the disk of the browser, too: dropped here it is read where it is.",
                            files::name_of(&address)
                        )));
                    }
                }
            }
            came.emit(Ok(files));
        });
    }

    fn served_came(&mut self, ctx: &Context<Self>, served: Result<Vec<File>, String>) -> bool {
        self.dialogs.notice = None;
        match served {
            Ok(files) => {
                self.chosen(ctx, files);
            }
            Err(why) => self.fail(why),
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

    /// Opens a log in place of what is open.
    fn open(&mut self, ctx: &Context<Self>, file: &LogFile) {
        self.clear(ctx);
        let client = self.client.open(&file.file);
        self.begin(client, file);
    }

    /// Opens two logs in place of what is open. The one whose file was changed earlier is
    /// the one before, and the panels are about the other one, unless a link says otherwise.
    fn open_two(&mut self, ctx: &Context<Self>, one: LogFile, two: LogFile) {
        let later = one.file.last_modified() > two.file.last_modified();
        let (before, after) = if later { (two, one) } else { (one, two) };
        let link = self.wanted.as_ref().filter(|link| {
            let prints = (before.fingerprint, after.fingerprint);
            let of_link = (link.fingerprint, link.other.map(|(_, print)| print));
            of_link.0.is_some() && [of_link, (of_link.1, of_link.0)].contains(&prints)
        });
        let (own, other, role) = match link.map(|link| (link.fingerprint, link.other)) {
            Some((print, Some((role, _)))) if print == before.fingerprint => (before, after, role),
            Some((_, Some((role, _)))) => (after, before, role),
            _ => (after, before, Role::Before),
        };
        self.clear(ctx);
        let [client, beside] = self.client.open_two([&own.file, &other.file]);
        self.begin(client, &own);
        self.begin_beside(ctx, beside, &other, Some(role));
    }

    /// Closes what is open, and forgets what of the view was about it.
    fn clear(&mut self, ctx: &Context<Self>) {
        self.close_other(ctx, ());
        self.dialogs.offered = None;
        self.dialogs.error = None;
        self.dialogs.notice = None;
        self.timeline = TimelineState::default();
        self.pauses.overview = None;
        self.wanted_pair = None;
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
        view.settings.set(CompareView::default());
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
    }

    /// Shows a log that is being opened.
    fn begin(&mut self, client: LogClient, file: &LogFile) {
        self.log = self.log.next(file);
        self.log_client = client;
        self.viewer.reset(self.log_client.clone());
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

    /// Opens the logs among some files, or asks what with one that comes while another is
    /// open; an executable gives names to them.
    fn sorted(&mut self, ctx: &Context<Self>, sorted: Sorted) -> bool {
        let compares = std::mem::take(&mut self.dialogs.compares) && self.log.is_there();
        if let Some(symbols) = &sorted.symbols {
            self.client.set_symbols(symbols);
        }
        let mut logs = sorted.logs.into_iter();
        match (logs.next(), logs.next()) {
            (Some(one), Some(two)) => self.open_two(ctx, one, two),
            (Some(one), None) if compares => self.compare_with(ctx, &one),
            (Some(one), None) => self.came(ctx, one),
            _ => {}
        }
        if let Some(why) = sorted.unreadable {
            self.fail(why);
        } else if sorted.more > 0 {
            let files = many(sorted.more as u64, "other file");
            self.dialogs.notice = Some(format!("{files} ignored: two logs are shown at a time."));
        }
        true
    }

    /// A log came by itself.
    fn came(&mut self, ctx: &Context<Self>, file: LogFile) {
        if !self.log.is_open() {
            self.open(ctx, &file);
        } else if self.is_wanted_beside(&file) {
            self.compare_with(ctx, &file);
        } else {
            self.dialogs.offered = Some(file);
        }
    }

    /// Opens a log beside the one that is open.
    fn compare_with(&mut self, ctx: &Context<Self>, file: &LogFile) {
        self.dialogs.offered = None;
        self.dialogs.notice = None;
        self.open_beside(ctx, file, self.wanted_role(file));
    }

    /// It was said what with a log that came while another one is open.
    pub(super) fn decided(&mut self, ctx: &Context<Self>, answer: Answer) -> bool {
        let Some(file) = self.dialogs.offered.take() else {
            return false;
        };
        match answer {
            Answer::Compare => self.compare_with(ctx, &file),
            Answer::Open => self.open(ctx, &file),
            Answer::Neither => {}
        }
        true
    }

    /// Says why something did not work, without losing what is open.
    fn fail(&mut self, why: impl Into<String>) {
        if self.log.is_open() {
            self.dialogs.notice = Some(why.into());
        } else {
            self.dialogs.error = Some(why.into());
            self.log = self.log.none();
        }
    }
}
