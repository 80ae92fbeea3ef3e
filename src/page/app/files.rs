//! Files that are dropped or chosen: a log is opened, an
//! executable names addresses.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::{App, TimelineState};
use crate::beside::Answer;
use crate::client::LogClient;
use crate::files::{self, Chosen, Dropped, LogFile, Origin, Sorted};
use crate::landing::Asked;
use crate::recent;
use crate::update::callback;
use scene::format::many;
use session::alignment::Role;
use session::heap::choice::HeapChoice;
use views::actions::Action;
use views::heap::settings::HeapView;
use views::panels::PANELS;
use views::share::decode;
use views::trouble::{Code, Trouble};
use views::view::View;
use views::view::compare::CompareView;

impl App {
    /// Does what is asked for on the first page, or from outside.
    pub(super) fn asked(&mut self, ctx: &Context<Self>, asked: Asked) -> bool {
        match asked {
            Asked::Files(files) => self.chosen(ctx, files),
            Asked::Failed(why) => {
                self.fail(Trouble::saying(Code::NotRead, why));
                true
            }
            Asked::Sample(path, view) => self.open_sample(ctx, (path, view)),
            Asked::Browse => self.perform(ctx, Action::Open),
            Asked::Tour => self.start_tour(ctx),
        }
    }

    /// Opens a sample with a view of what it shows, as links write it.
    fn open_sample(&mut self, ctx: &Context<Self>, (path, view): (String, String)) -> bool {
        let came = callback(ctx, Self::sample_came);
        spawn_local(async move { came.emit((view, files::sample(&path).await)) });
        false
    }

    fn sample_came(
        &mut self,
        ctx: &Context<Self>,
        (view, sample): (String, Result<Sorted, Trouble>),
    ) -> bool {
        match sample {
            Ok(sorted) => {
                if !self.log.is_there() || (self.is_home && self.unsaved_notes() == 0) {
                    self.wanted.get_or_insert_with(|| decode(&view, PANELS));
                }
                self.sorted(ctx, sorted)
            }
            Err(why) => {
                self.fail(why);
                true
            }
        }
    }

    /// Files were dropped or chosen: it has to be found out what they are.
    pub(super) fn chosen(&mut self, ctx: &Context<Self>, files: Vec<Chosen>) -> bool {
        let sorted = callback(ctx, Self::sorted);
        spawn_local(async move { sorted.emit(files::sort(files).await) });
        false
    }

    pub(super) fn dragging(&mut self, _: &Context<Self>, dragging: bool) -> bool {
        std::mem::replace(&mut self.dialogs.dragging, dragging) != dragging
    }

    /// Opens a log in place of what is open.
    pub(super) fn open(&mut self, ctx: &Context<Self>, file: &LogFile) {
        self.clear(ctx);
        let client = self.client.open(file.live());
        self.begin(ctx, client, file);
    }

    /// Opens two logs in place of what is open. The one whose file was changed earlier is
    /// the one before, and the panels are about the other one, unless a link says otherwise.
    pub(super) fn open_two(&mut self, ctx: &Context<Self>, one: LogFile, two: LogFile) {
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
        let [client, beside] = self.client.open_two([own.live(), other.live()]);
        self.begin(ctx, client, &own);
        self.begin_beside(ctx, beside, &other, Some(role));
    }

    /// Closes what is open, and forgets what of the view was about it.
    fn clear(&mut self, ctx: &Context<Self>) {
        self.remember_before();
        self.following = None;
        self.is_home = false;
        self.touring = None;
        self.close_other(ctx, ());
        self.dialogs.offered = None;
        self.dialogs.trouble = None;
        self.dialogs.notice = None;
        self.timeline = TimelineState::default();
        self.pauses.overview = None;
        self.wanted_pair = None;
        self.panel_follows();
        self.panel.marked = Rc::default();
        self.panel.wish = None;
        // What is about single moments and tracks of the log before goes.
        let mut view = View::clone(self.views.view()).without_places();
        view.tracks.selected.clear();
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
    }

    /// Shows a log that is being opened.
    fn begin(&mut self, ctx: &Context<Self>, client: LogClient, file: &LogFile) {
        if let Origin::Handle(handle) = &file.origin
            && files::served().is_empty()
        {
            recent::keep(handle);
        }
        self.log = self.log.next(file);
        self.log_client = client;
        self.viewer.reset(self.log_client.clone());
        self.show_early(ctx);
    }

    pub(super) fn dropped(&mut self, ctx: &Context<Self>, dropped: Dropped) -> bool {
        self.dialogs.dragging = false;
        match dropped {
            Dropped::Files(files) => {
                let came = callback(ctx, Self::chosen);
                spawn_local(async move { came.emit(files.await) });
            }
            Dropped::Folder => {
                self.fail(Trouble::new(Code::Folder));
            }
            Dropped::Nothing => self.fail(Trouble::new(Code::NoFile)),
        }
        true
    }

    /// Opens the logs among some files, or asks what with one that comes while another is
    /// open; an executable gives names to them.
    fn sorted(&mut self, ctx: &Context<Self>, mut sorted: Sorted) -> bool {
        let compares = std::mem::take(&mut self.dialogs.compares) && self.log.is_there();
        if let Some(symbols) = &sorted.symbols {
            self.client.set_symbols(symbols);
        }
        if self.came_to_merge(&mut sorted) {
            return true;
        }
        let mut logs = sorted.logs.into_iter();
        match (logs.next(), logs.next()) {
            (Some(one), Some(two)) => self.open_two(ctx, one, two),
            (Some(one), None) if compares => self.compare_with(ctx, &one),
            (Some(one), None) => self.came(ctx, one),
            _ => {}
        }
        if let Some(why) = sorted.unreadable {
            self.fail(Trouble::saying(Code::NotRead, why));
        } else if sorted.more > 0 {
            let files = many(sorted.more as u64, "other file");
            self.dialogs.notice = Some(format!("{files} ignored."));
        }
        true
    }

    /// A log came by itself.
    fn came(&mut self, ctx: &Context<Self>, file: LogFile) {
        let is_home = std::mem::take(&mut self.is_home);
        if !self.log.is_open() || (is_home && self.unsaved_notes() == 0) {
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
            Answer::Merge => self.ask_merge(self.log.file.iter().cloned().chain([file]).collect()),
            Answer::Open => self.open(ctx, &file),
            Answer::Neither => {}
        }
        true
    }

    /// Says what did not work, without losing what is open.
    pub(super) fn fail(&mut self, trouble: Trouble) {
        self.dialogs.trouble = Some(trouble);
        if !self.log.is_there() {
            self.log = self.log.none();
        }
    }
}
