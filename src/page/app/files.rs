//! Dropped and chosen files: logs are opened, executables supply symbol names for addresses.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::notes::Closing;
use super::{App, TimelineState};
use crate::client::LogClient;
use crate::files::{self, Dropped, InputFile, LogFile, Origin, SortedFiles};
use crate::landing::LandingRequest;
use crate::recent;
use crate::two_logs::SecondLogAnswer;
use crate::update::callback;
use scene::format::pluralize;
use session::alignment::Role;
use session::heap::census_diff::CensusDiffChoice;
use session::heap::choice::HeapChoice;
use session::tracks::name::TrackName;
use views::actions::Action;
use views::heap::settings::HeapView;
use views::page_error::{Code, PageError};
use views::panels::PANELS;
use views::share::{Unknown, decode};
use views::view::View;
use views::view::compare::CompareView;
use views::view::findings::FindingsView;
use views::view::flame::FlameView;

impl App {
    /// Handles a request of the landing page, or one from outside of the app.
    pub(super) fn on_landing_request(
        &mut self,
        ctx: &Context<Self>,
        request: LandingRequest,
    ) -> bool {
        match request {
            LandingRequest::Files(files) => self.on_files_chosen(ctx, files),
            LandingRequest::Failed(why) => {
                self.show_error(PageError::with_message(Code::NotRead, why));
                true
            }
            LandingRequest::Sample(path, view) => self.open_sample(ctx, (path, view)),
            LandingRequest::Browse => self.perform(ctx, Action::Open),
            LandingRequest::Tour => self.start_tour(ctx),
        }
    }

    /// Opens a sample with a view given as an encoded link.
    fn open_sample(&mut self, ctx: &Context<Self>, (path, view): (String, String)) -> bool {
        self.dialogs.forget_file_choice();
        let on_sample = callback(ctx, Self::on_sample);
        spawn_local(async move { on_sample.emit((view, files::sample(&path).await)) });
        false
    }

    fn on_sample(
        &mut self,
        ctx: &Context<Self>,
        (view, sample): (String, Result<SortedFiles, PageError>),
    ) -> bool {
        match sample {
            Ok(sorted) => {
                if !self.log.has_log() || (self.is_home && self.unsaved_notes() == 0) {
                    self.pending_link
                        .get_or_insert_with(|| decode(&view, PANELS));
                }
                self.on_files_sorted(ctx, sorted)
            }
            Err(why) => {
                self.show_error(why);
                true
            }
        }
    }

    /// Determines the kinds of dropped or chosen files, then opens them.
    pub(super) fn on_files_chosen(&mut self, ctx: &Context<Self>, files: Vec<InputFile>) -> bool {
        let on_sorted = callback(ctx, Self::on_files_sorted);
        spawn_local(async move { on_sorted.emit(files::sort_by_kind(files).await) });
        false
    }

    pub(super) fn on_dragging(&mut self, _: &Context<Self>, dragging: bool) -> bool {
        std::mem::replace(&mut self.dialogs.dragging, dragging) != dragging
    }

    /// Opens a log in place of the open ones.
    pub(super) fn open(&mut self, ctx: &Context<Self>, file: &LogFile) {
        self.clear(ctx);
        let client = self.client.open(file.live());
        self.install_log(ctx, client, file);
    }

    /// Opens two logs in place of the open ones. The one with the older file gets the role `Before`, and the panels
    /// show the newer one, unless a link says otherwise.
    pub(super) fn open_two(&mut self, ctx: &Context<Self>, one: LogFile, two: LogFile) {
        let later = one.file.last_modified() > two.file.last_modified();
        let (before, after) = if later { (two, one) } else { (one, two) };
        let link = self.pending_link.as_ref().filter(|link| {
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
        let [client, other_client] = self.client.open_two([own.live(), other.live()]);
        self.install_log(ctx, client, &own);
        self.install_other_log(ctx, other_client, &other, Some(role));
    }

    /// Closes the open logs and resets the parts of the view that depend on them.
    fn clear(&mut self, ctx: &Context<Self>) {
        self.remember_previous();
        self.follow = None;
        self.is_home = false;
        self.tour_step = None;
        self.close_other(ctx);
        self.dialogs.offered_log = None;
        self.dialogs.closing = None;
        self.dialogs.error = None;
        self.dialogs.notice = None;
        self.timeline = TimelineState::default();
        self.timers.overview = None;
        self.pending_comparison = None;
        self.unknown_in_link = Unknown::default();
        self.unfreeze_panel();
        self.panel.track_selection = Rc::default();
        self.panel.request = None;
        // Times and tracks of the previous log mean nothing in the next one.
        let mut view = View::clone(self.views.view()).without_times();
        view.tracks.selected.clear();
        view.settings.set(CompareView::default());
        view.settings.set(FindingsView::default());
        let heap = view.settings.get::<HeapView>();
        view.settings.set(HeapView {
            choice: HeapChoice::default(),
            moments: CensusDiffChoice::default(),
            ..heap
        });
        let flame = view.settings.get::<FlameView>();
        view.settings.set(FlameView {
            before: None,
            moments: None,
            tracks: TrackName::all(),
            frame: String::new(),
            ..flame
        });
        self.viewer.set_notes(&view.notes);
        self.views.set(view);
        self.views.restart();
        self.log_client.close();
    }

    /// Installs a loading log as the primary log.
    fn install_log(&mut self, ctx: &Context<Self>, client: LogClient, file: &LogFile) {
        if let Origin::Handle(handle) = &file.origin
            && files::served_addresses().is_empty()
        {
            recent::remember_handle(handle);
        }
        self.log = self.log.next(file);
        self.log_client = client;
        self.viewer.reset(self.log_client.clone());
        self.apply_link_early(ctx);
    }

    pub(super) fn on_drop(&mut self, ctx: &Context<Self>, dropped: Dropped) -> bool {
        self.dialogs.dragging = false;
        self.dialogs.forget_file_choice();
        match dropped {
            Dropped::Files(files) => {
                let on_chosen = callback(ctx, Self::on_files_chosen);
                spawn_local(async move { on_chosen.emit(files.await) });
            }
            Dropped::Folder => {
                self.show_error(PageError::new(Code::Folder));
            }
            Dropped::Nothing => self.show_error(PageError::new(Code::NoFile)),
        }
        true
    }

    /// Opens the logs among the files, or asks what to do with one while another is open; an executable supplies
    /// symbols.
    fn on_files_sorted(&mut self, ctx: &Context<Self>, mut sorted: SortedFiles) -> bool {
        let compare_next = std::mem::take(&mut self.dialogs.compare_next) && self.log.has_log();
        if let Some(symbols) = &sorted.symbols {
            self.client.set_symbols(symbols);
        }
        if self.try_ask_merge(&mut sorted) {
            return true;
        }
        let mut logs = sorted.logs.into_iter();
        match (logs.next(), logs.next()) {
            (Some(one), Some(two)) => {
                self.close_or_ask(ctx, Closing::OpenTwo(one, two));
            }
            (Some(one), None) if compare_next => self.compare_with(ctx, one),
            (Some(one), None) => self.open_or_offer(ctx, one),
            _ => {}
        }
        if let Some(why) = sorted.unreadable {
            self.show_error(PageError::with_message(Code::NotRead, why));
        } else if sorted.more > 0 {
            let files = pluralize(sorted.more as u64, "other file");
            self.dialogs.notice = Some(format!("{files} ignored."));
        }
        true
    }

    /// Handles a log that arrived without a request to compare or merge.
    fn open_or_offer(&mut self, ctx: &Context<Self>, file: LogFile) {
        let is_home = std::mem::take(&mut self.is_home);
        if !self.log.is_open() || (is_home && self.unsaved_notes() == 0) {
            self.open(ctx, &file);
        } else if self.completes_comparison(&file) {
            self.compare_with(ctx, file);
        } else {
            self.dialogs.offered_log = Some(file);
        }
    }

    /// Opens a log for comparison with the open one.
    fn compare_with(&mut self, ctx: &Context<Self>, file: LogFile) {
        self.dialogs.offered_log = None;
        self.dialogs.notice = None;
        self.close_or_ask(ctx, Closing::Compare(file));
    }

    /// Applies the user's decision about a log that arrived while another one is open.
    pub(super) fn on_second_log_answer(
        &mut self,
        ctx: &Context<Self>,
        answer: SecondLogAnswer,
    ) -> bool {
        let Some(file) = self.dialogs.offered_log.take() else {
            return false;
        };
        if answer != SecondLogAnswer::Open && !self.has_pending_fetch() {
            // A link that named this log is not for the next one that is opened.
            self.pending_link = None;
        }
        match answer {
            SecondLogAnswer::Compare => self.compare_with(ctx, file),
            SecondLogAnswer::Merge => {
                self.ask_merge(self.log.file.iter().cloned().chain([file]).collect())
            }
            SecondLogAnswer::Open => self.open(ctx, &file),
            SecondLogAnswer::Discard => {}
        }
        true
    }

    /// Shows an error without closing the open log.
    pub(super) fn show_error(&mut self, error: PageError) {
        self.dialogs.error = Some(error);
        if !self.log.has_log() {
            self.log = self.log.cleared();
        }
    }
}
