//! The address follows the view, and the page shows what a link says.

use std::rc::Rc;

use gloo_timers::future::TimeoutFuture;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::App;
use crate::copy::{SAID_MS, copy};
use crate::files::LogFile;
use crate::link;
use crate::update::{after, callback};
use scene::format;
use session::alignment::Role;
use views::share::Link;
use views::view::View;
use views::view::store::Entry;

/// How long after the last change the address follows the view.
const SETTLED_MS: u32 = 250;

impl App {
    /// The address follows when the user has paused.
    pub(super) fn will_settle(&mut self, ctx: &Context<Self>) {
        if self.log.is_open() {
            self.pauses.settle = Some(after(ctx, SETTLED_MS, Self::settled));
        }
    }

    pub(super) fn settled(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.pauses.settle = None;
        if self.is_dragging() || self.awaits_item() {
            // A drag is one step, from its begin to its end, however often it rests; and so is
            // going somewhere with what is selected there.
            self.will_settle(ctx);
            return false;
        }
        if link::fragment() != self.fragment {
            // The browser went back or forward: the page is about to hear of it.
            return false;
        }
        self.look();
        let mut entry = self.views.settle(js_sys::Date::now());
        if link::read().is_none_or(|said| said.fingerprint != self.log.fingerprint) {
            // Back leads to the first page, or to the log before.
            entry = Entry::New;
        }
        if !self.is_home {
            self.write_address(&self.link(), entry);
        }
        false
    }

    pub(super) fn write_address(&mut self, link: &Link, entry: Entry) {
        link::write(link, entry);
        self.fragment = link::fragment();
    }

    /// The link to this view.
    pub(super) fn link(&self) -> Link {
        let other = self.other.as_ref();
        Link {
            fingerprint: self.log.fingerprint,
            other: other.and_then(|other| Some((other.role, other.log.fingerprint?))),
            url: (self.log.file.as_ref())
                .and_then(|file| file.origin.url())
                .map(str::to_owned),
            view: View::clone(self.views.view()),
            ..Link::default()
        }
    }

    /// Copies the link, and shows what it holds.
    pub(super) fn share(&mut self, ctx: &Context<Self>) {
        self.look();
        let said = self.link();
        self.write_address(&said, Entry::Replace);
        let Some(href) = link::href(&said) else {
            return;
        };
        let copied = callback(ctx, |app, _, copied| {
            app.dialogs.copied = copied;
            if copied {
                app.notes_are_kept();
            }
            true
        });
        let tried = callback(ctx, |app, _, copied| {
            if let Some((_, result)) = &mut app.dialogs.share {
                *result = Some(copied);
            }
            true
        });
        self.dialogs.share = Some((Rc::new(said), None));
        spawn_local(async move {
            let is_copied = copy(&href).await;
            tried.emit(is_copied);
            if is_copied {
                copied.emit(true);
                TimeoutFuture::new(SAID_MS).await;
            }
            copied.emit(false);
        });
    }

    /// Shows what a link says, now or as soon as the log is there.
    pub(super) fn want(&mut self, ctx: &Context<Self>, link: Link) {
        if self.log.is_open() {
            self.wanted_pair = None;
            self.follow_link(ctx, link);
        } else {
            self.wanted = Some(link);
            if self.log.is_loading() {
                self.show_early(ctx);
            }
        }
    }

    /// Shows what a link says of a log that is being read, but for the places in it: what is
    /// changed meanwhile is changed for good.
    pub(super) fn show_early(&mut self, ctx: &Context<Self>) {
        if let Some(link) = &self.wanted {
            let view = link.view.clone().without_places();
            self.show(ctx, view);
        }
    }

    /// Shows the places that a link names, where nothing else was chosen while they were waited for.
    pub(super) fn follow_places(&mut self, ctx: &Context<Self>, mut link: Link) {
        self.look();
        link.view = View::clone(self.views.view()).or_places_of(&link.view);
        self.follow_link(ctx, link);
    }

    /// Takes over what a link says, as far as it fits this log.
    fn follow_link(&mut self, ctx: &Context<Self>, link: Link) {
        let (Some(log), Some(reach)) = (self.log.overview.span, self.reach()) else {
            return;
        };
        if link.newer() {
            self.dialogs.notice = Some("This link was made by a newer version of this page: some of it may be missing here.".to_owned());
        }
        self.look();
        let visible = link.view.visible.filter(|span| span.overlaps(reach));
        let view = View {
            visible,
            ..link.view.clone().inside(log)
        };
        self.show(ctx, view);
        // The address says it already: it can be gone back to, however soon something is done.
        self.views.settle(js_sys::Date::now());
        self.keep_panel();
        self.compare_with_link(link);
    }

    /// Says so if a link is about another log, or about two of which one is missing.
    fn compare_with_link(&mut self, link: Link) {
        let (Some(wanted), Some(print)) = (link.fingerprint, self.log.fingerprint) else {
            return;
        };
        let other = self.other.as_ref();
        let beside = other.and_then(|other| other.log.fingerprint);
        let missing = match link.other {
            Some((role, missing)) if wanted == print => {
                (beside != Some(missing)).then_some((role, missing))
            }
            Some((role, its)) if its == print => Some((role.other(), wanted)),
            _ if wanted != print => {
                self.dialogs.notice = Some(format!(
                    "The link was made for another log, of {}; this one has {}. What fits was applied.",
                    format::bytes(wanted.len()),
                    format::bytes(print.len())
                ));
                return;
            }
            _ => return,
        };
        match missing {
            Some((role, missing)) => {
                self.dialogs.notice = Some(format!(
                    "The link compares two logs, and this is the one {}. Drop the one {} too: it has {}.",
                    role.other().word(),
                    role.word(),
                    format::bytes(missing.len())
                ));
                self.wanted_pair = Some(link);
            }
            // The other one may be on its way: then it is seen how far both reach.
            None if other.is_some_and(|other| !other.log.is_open()) => {
                self.wanted_pair = Some(link);
            }
            None => {}
        }
    }

    /// What a log is, if it is the one that a link waits for.
    pub(super) fn wanted_role(&self, file: &LogFile) -> Option<Role> {
        let link = self.wanted_pair.as_ref()?;
        let (role, print) = link.other?;
        if file.fingerprint == Some(print) {
            Some(role)
        } else {
            (file.fingerprint == link.fingerprint).then_some(role.other())
        }
    }

    /// Whether it is the log that a link waits for.
    pub(super) fn is_wanted_beside(&self, file: &LogFile) -> bool {
        self.wanted_role(file).is_some() && file.fingerprint != self.log.fingerprint
    }

    /// Both logs of a link are there: what it says is applied to both.
    pub(super) fn follow_pair_link(&mut self, ctx: &Context<Self>) {
        let Some(link) = self.wanted_pair.take() else {
            return;
        };
        let other = self.other.as_ref();
        let prints = (link.fingerprint, link.other.map(|(_, print)| print));
        let here = (
            self.log.fingerprint,
            other.and_then(|other| other.log.fingerprint),
        );
        let is_exchanged = here == (prints.1, prints.0) && here != prints;
        if here != prints && !is_exchanged {
            return;
        }
        self.dialogs.notice = None;
        if is_exchanged {
            self.exchange(ctx);
            self.follow_link(ctx, link);
        } else {
            self.follow_places(ctx, link);
        }
    }

    /// The address was changed: by hand, or by the browser's Back and Forward.
    pub(super) fn follow_address(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.fragment = link::fragment();
        let said = link::read();
        self.is_home = said.is_none() && self.log.is_open();
        let said = said.unwrap_or_default();
        if self.is_home || self.open_if_before(ctx, &said) {
            return true;
        }
        let own = self.log.file.as_ref().and_then(|file| file.origin.url());
        if said.url.is_some() && said.url.as_deref() != own {
            self.wanted = Some(said);
            self.open_linked(ctx);
        } else {
            self.want(ctx, said);
        }
        true
    }
}
