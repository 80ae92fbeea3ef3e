//! Reopening of logs, and the landing page while a log is open.

use std::rc::Rc;

use gloo_utils::document;
use wasm_bindgen_futures::spawn_local;
use web_sys::FileSystemFileHandle;
use yew::prelude::*;

use super::App;
use crate::files::{self, InputFile, Origin, SortedFiles};
use crate::update::callback;
use crate::{landing, recent};
use views::page_error::{Code, PageError};
use views::share::Link;
use views::view::store::Entry;

impl App {
    /// Shows the landing page; the log stays open.
    pub(super) fn go_home(&mut self, _: &Context<Self>, (): ()) -> bool {
        self.is_home = self.log.is_open();
        // The browser's Back then returns to the log.
        self.write_address(&Link::default(), Entry::New);
        document().set_title("Eventscope");
        true
    }

    /// Returns from the landing page to the open log.
    pub(super) fn leave_home(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        if std::mem::take(&mut self.is_home) {
            self.schedule_address_update(ctx);
        }
        true
    }

    /// Opens a file chooser.
    pub(super) fn choose(&self, ctx: &Context<Self>) {
        if !recent::can_pick() {
            return landing::browse();
        }
        let on_read = callback(ctx, Self::on_files_read);
        spawn_local(async move {
            let mut files = Vec::new();
            for handle in recent::pick_files().await {
                files.push(Origin::Handle(handle).read_again().await);
            }
            let files: Result<Vec<InputFile>, String> = files.into_iter().collect();
            if files.as_ref().map_or(true, |files| !files.is_empty()) {
                on_read.emit(files);
            }
        });
    }

    /// Opens a recent log through its stored file handle.
    pub(super) fn open_recent(
        &mut self,
        ctx: &Context<Self>,
        handle: FileSystemFileHandle,
    ) -> bool {
        self.dialogs.forget_file_choice();
        let on_read = callback(ctx, Self::on_files_read);
        spawn_local(async move {
            let read = Origin::Handle(handle).read_again().await;
            on_read.emit(read.map(|file| vec![file]));
        });
        false
    }

    fn on_files_read(&mut self, ctx: &Context<Self>, read: Result<Vec<InputFile>, String>) -> bool {
        match read {
            Ok(files) => self.on_files_chosen(ctx, files),
            Err(why) => {
                self.show_error(PageError::with_message(Code::NotRead, why));
                true
            }
        }
    }

    /// Reloads the open logs from their current files.
    pub(super) fn read_again(&mut self, ctx: &Context<Self>) -> bool {
        let other = self.other.as_ref().map(|other| &other.log);
        let logs = std::iter::once(&self.log).chain(other);
        let origins: Vec<Origin> = logs
            .filter_map(|log| Some(log.file.as_ref()?.origin.clone()))
            .collect();
        let on_reloaded = callback(ctx, Self::on_reloaded);
        spawn_local(async move {
            let mut files = Vec::new();
            for origin in origins {
                match origin.read_again().await {
                    Ok(file) => files.push(file),
                    Err(why) => return on_reloaded.emit(Err(why)),
                }
            }
            on_reloaded.emit(Ok(files::sort_by_kind(files).await));
        });
        false
    }

    /// Shows a notice if the file of the log was modified since it was read. Called when the window gets the focus.
    pub(super) fn check_for_change(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        let file = self.log.file.as_ref().filter(|_| self.log.is_open());
        let Some(Origin::Handle(handle)) = file.map(|file| &file.origin) else {
            return false;
        };
        if self.follow.is_some() {
            return false;
        }
        let (handle, on_modified) = (handle.clone(), callback(ctx, Self::on_file_modified));
        spawn_local(async move {
            if let Some(now) = recent::file(&handle).await {
                on_modified.emit(now.last_modified());
            }
        });
        false
    }

    fn on_file_modified(&mut self, _: &Context<Self>, modified_ms: f64) -> bool {
        let notified_ms = self.log.notified_ms.max(self.log.modified_ms());
        if modified_ms <= notified_ms {
            return false;
        }
        self.log.notified_ms = modified_ms;
        self.dialogs.notice = Some(format!(
            "“{}” has changed on disk. Press R to reload it; the view stays.",
            self.log.name
        ));
        true
    }

    fn on_reloaded(&mut self, ctx: &Context<Self>, read: Result<SortedFiles, String>) -> bool {
        let sorted = match read {
            Ok(sorted) => sorted,
            Err(why) => {
                self.show_error(PageError::with_message(Code::NotRead, why));
                return true;
            }
        };
        if let Some(why) = sorted.unreadable {
            self.show_error(PageError::with_message(Code::NotRead, why));
            return true;
        }
        self.sync_view();
        let mut link = self.link();
        let mut logs = sorted.logs.into_iter();
        let Some(own) = logs.next() else {
            return false;
        };
        link.fingerprint = own.fingerprint;
        let other = logs.next();
        if let Some((_, print)) = &mut link.other
            && let Some(now) = other.as_ref().and_then(|other| other.fingerprint)
        {
            *print = now;
        }
        self.pending_link = Some(link);
        let saved_notes = Rc::clone(&self.saved_notes);
        match other {
            Some(other) => {
                let notes = self.other_notes();
                self.open_two(ctx, own, other);
                notes
                    .into_iter()
                    .for_each(|notes| self.restore_other_notes(notes));
            }
            None => self.open(ctx, &own),
        }
        self.log.saved_notes = Some(saved_notes);
        true
    }

    /// Remembers the open log and its view before another one replaces it.
    pub(super) fn remember_previous(&mut self) {
        if !self.log.is_open() {
            return;
        }
        self.sync_view();
        if let Some(file) = self.log.file.clone() {
            self.previous = Some((file, self.link(), Rc::clone(&self.saved_notes)));
        }
    }

    /// Reopens the previous log with its view; returns false if there is none.
    pub(super) fn open_previous(&mut self, ctx: &Context<Self>) -> bool {
        let Some((file, link, saved_notes)) = self.previous.take() else {
            return false;
        };
        self.pending_link = Some(link);
        self.open(ctx, &file);
        self.log.saved_notes = Some(saved_notes);
        true
    }

    /// Reopens the previous log if a link refers to it; returns whether it did.
    pub(super) fn open_previous_for_link(&mut self, ctx: &Context<Self>, link: &Link) -> bool {
        let previous = self.previous.as_ref().map(|(file, ..)| file.fingerprint);
        let is_previous = link.fingerprint.is_some()
            && link.fingerprint != self.log.fingerprint
            && previous == Some(link.fingerprint);
        if is_previous && let Some((_, view, _)) = &mut self.previous {
            *view = link.clone();
            return self.open_previous(ctx);
        }
        false
    }
}
