//! Nothing is lost: logs that are opened again, and the first page while a log is open.

use gloo_utils::document;
use wasm_bindgen_futures::spawn_local;
use web_sys::FileSystemFileHandle;
use yew::prelude::*;

use super::App;
use crate::files::{self, Chosen, Origin, Sorted};
use crate::update::callback;
use crate::{landing, recent};
use views::share::Link;
use views::trouble::{Code, Trouble};
use views::view::store::Entry;

impl App {
    /// Shows the first page; the log stays open behind it.
    pub(super) fn go_home(&mut self, _: &Context<Self>, (): ()) -> bool {
        self.is_home = self.log.is_open();
        // The browser's Back leads to the log.
        self.write_address(&Link::default(), Entry::New);
        document().set_title("Eventscope");
        true
    }

    /// Shows the log that is open behind the first page.
    pub(super) fn leave_home(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        if std::mem::take(&mut self.is_home) {
            self.will_settle(ctx);
        }
        true
    }

    /// Has the reader choose files.
    pub(super) fn choose(&self, ctx: &Context<Self>) {
        if !recent::can_pick() {
            return landing::browse();
        }
        let chosen = callback(ctx, Self::read_came);
        spawn_local(async move {
            let mut files = Vec::new();
            for handle in recent::choose().await {
                files.push(Origin::Handle(handle).read_again().await);
            }
            let files: Result<Vec<Chosen>, String> = files.into_iter().collect();
            if files.as_ref().map_or(true, |files| !files.is_empty()) {
                chosen.emit(files);
            }
        });
    }

    /// Opens a log whose handle the browser has kept.
    pub(super) fn open_kept(&mut self, ctx: &Context<Self>, handle: FileSystemFileHandle) -> bool {
        let came = callback(ctx, Self::read_came);
        spawn_local(async move {
            let read = Origin::Handle(handle).read_again().await;
            came.emit(read.map(|file| vec![file]));
        });
        false
    }

    fn read_came(&mut self, ctx: &Context<Self>, read: Result<Vec<Chosen>, String>) -> bool {
        match read {
            Ok(files) => self.chosen(ctx, files),
            Err(why) => {
                self.fail(Trouble::saying(Code::NotRead, why));
                true
            }
        }
    }

    /// Reads what is open again, as it is now.
    pub(super) fn read_again(&mut self, ctx: &Context<Self>) -> bool {
        let other = self.other.as_ref().map(|other| &other.log);
        let logs = std::iter::once(&self.log).chain(other);
        let origins: Vec<Origin> = logs
            .filter_map(|log| Some(log.file.as_ref()?.origin.clone()))
            .collect();
        let came = callback(ctx, Self::came_again);
        spawn_local(async move {
            let mut files = Vec::new();
            for origin in origins {
                match origin.read_again().await {
                    Ok(file) => files.push(file),
                    Err(why) => return came.emit(Err(why)),
                }
            }
            came.emit(Ok(files::sort(files).await));
        });
        false
    }

    /// The reader comes back to the page: says so if the file was written meanwhile.
    pub(super) fn look_for_change(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        let file = self.log.file.as_ref().filter(|_| self.log.is_open());
        let Some(Origin::Handle(handle)) = file.map(|file| &file.origin) else {
            return false;
        };
        if self.following.is_some() {
            return false;
        }
        let (handle, changed) = (handle.clone(), callback(ctx, Self::file_changed));
        spawn_local(async move {
            if let Some(now) = recent::file(&handle).await {
                changed.emit(now.last_modified());
            }
        });
        false
    }

    fn file_changed(&mut self, _: &Context<Self>, modified_ms: f64) -> bool {
        let told_ms = self.log.told_ms.max(self.log.modified_ms());
        if modified_ms <= told_ms {
            return false;
        }
        self.log.told_ms = modified_ms;
        self.dialogs.notice = Some(format!(
            "“{}” was written since it was read. Press R to read it again; the view stays.",
            self.log.name
        ));
        true
    }

    fn came_again(&mut self, ctx: &Context<Self>, read: Result<Sorted, String>) -> bool {
        let sorted = match read {
            Ok(sorted) => sorted,
            Err(why) => {
                self.fail(Trouble::saying(Code::NotRead, why));
                return true;
            }
        };
        if let Some(why) = sorted.unreadable {
            self.fail(Trouble::saying(Code::NotRead, why));
            return true;
        }
        self.look();
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
        self.wanted = Some(link);
        match other {
            Some(other) => self.open_two(ctx, own, other),
            None => self.open(ctx, &own),
        }
        true
    }

    /// Remembers the log that is open, before another one takes its place.
    pub(super) fn remember_before(&mut self) {
        if !self.log.is_open() {
            return;
        }
        self.look();
        if let Some(file) = self.log.file.clone() {
            self.before = Some((file, self.link()));
        }
    }

    /// Opens the log that was open before, with the view of it; false if there was none.
    pub(super) fn open_before(&mut self, ctx: &Context<Self>) -> bool {
        let Some((file, link)) = self.before.take() else {
            return false;
        };
        self.wanted = Some(link);
        self.open(ctx, &file);
        true
    }

    /// Opens the log that was open before, if it is what a link is about.
    pub(super) fn open_if_before(&mut self, ctx: &Context<Self>, link: &Link) -> bool {
        let before = self.before.as_ref().map(|(file, _)| file.fingerprint);
        let is_meant = link.fingerprint.is_some()
            && link.fingerprint != self.log.fingerprint
            && before == Some(link.fingerprint);
        if is_meant && let Some((_, view)) = &mut self.before {
            *view = link.clone();
            return self.open_before(ctx);
        }
        false
    }
}
