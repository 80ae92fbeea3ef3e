//! Links: keeps the address in sync with the view, and applies links.

use std::rc::Rc;

use gloo_timers::future::TimeoutFuture;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use super::App;
use crate::copy::{STATUS_MS, copy};
use crate::dom::set_root_attribute;
use crate::files::LogFile;
use crate::link;
use crate::update::{callback, update_after};
use scene::format;
use session::alignment::Role;
use views::fingerprint::Fingerprint;
use views::share::Link;
use views::view::View;
use views::view::store::Entry;

/// Delay after the last change before the address is updated.
const ADDRESS_DELAY_MS: u32 = 250;
/// Attribute of the root element while an update of the address is scheduled: until then, it lacks the last change.
const PENDING_ADDRESS: &str = "data-pending-address";

/// Returns the fingerprints of the primary and the second log of a link.
fn linked_fingerprints(link: &Link) -> (Option<Fingerprint>, Option<Fingerprint>) {
    (link.fingerprint, link.other.map(|(_, print)| print))
}

impl App {
    /// Schedules an update of the address (debounced).
    pub(super) fn schedule_address_update(&mut self, ctx: &Context<Self>) {
        if self.log.is_open() {
            self.timers.address = Some(update_after(ctx, ADDRESS_DELAY_MS, Self::update_address));
            set_root_attribute(PENDING_ADDRESS, Some(""));
        }
    }

    pub(super) fn update_address(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.timers.address = None;
        set_root_attribute(PENDING_ADDRESS, None);
        if self.is_dragging() || self.awaits_item() {
            // A drag is a single history step, even if it pauses; so is a navigation together with the item it
            // selects.
            self.schedule_address_update(ctx);
            return false;
        }
        if link::fragment() != self.fragment {
            // The browser went back or forward; its `hashchange` event is still to come.
            return false;
        }
        self.sync_view();
        let mut entry = self.views.record(js_sys::Date::now());
        if link::read().is_none_or(|link| link.fingerprint != self.log.fingerprint) {
            // Back then leads to the landing page, or to the previous log.
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

    /// Returns the link to the current view.
    pub(super) fn link(&self) -> Link {
        let other = self.other.as_ref();
        Link {
            fingerprint: self.log.fingerprint,
            other: other.and_then(|other| Some((other.role, other.log.fingerprint?))),
            url: (self.log.file.as_ref())
                .and_then(|file| file.origin.url())
                .map(str::to_owned),
            view: View::clone(self.views.view()),
            unknown: self.unknown_in_link.clone(),
            ..Link::default()
        }
    }

    /// Copies the link and opens the share dialog.
    pub(super) fn share(&mut self, ctx: &Context<Self>) {
        self.sync_view();
        let link = self.link();
        self.write_address(&link, Entry::Replace);
        let Some(href) = link::href(&link) else {
            return;
        };
        let copied = callback(ctx, |app, _, copied| {
            app.dialogs.copied = copied;
            if copied {
                app.mark_notes_saved();
            }
            true
        });
        let tried = callback(ctx, |app, _, copied| {
            if let Some((_, result)) = &mut app.dialogs.share {
                *result = Some(copied);
            }
            true
        });
        self.dialogs.share = Some((Rc::new(link), None));
        spawn_local(async move {
            let is_copied = copy(&href).await;
            tried.emit(is_copied);
            if is_copied {
                copied.emit(true);
                TimeoutFuture::new(STATUS_MS).await;
            }
            copied.emit(false);
        });
    }

    /// Applies a link, now or as soon as the log is open.
    pub(super) fn apply_link(&mut self, ctx: &Context<Self>, link: Link) {
        if self.log.is_open() {
            self.pending_comparison = None;
            if self.is_exchanged(&link) {
                self.exchange(ctx);
            }
            self.apply_link_now(ctx, link);
        } else {
            self.pending_link = Some(link);
            if self.log.is_loading() {
                self.apply_link_early(ctx);
            }
        }
    }

    /// Applies the pending link to a loading log, except for its times (visible time, selection, notes): these wait
    /// until the log is open, and later changes by the user prevail.
    pub(super) fn apply_link_early(&mut self, ctx: &Context<Self>) {
        if let Some(link) = &self.pending_link {
            let view = link.view.clone().without_times();
            self.show(ctx, view);
        }
    }

    /// Applies the times of a link (visible time, selection, notes) where the user chose nothing else meanwhile.
    pub(super) fn apply_link_times(&mut self, ctx: &Context<Self>, mut link: Link) {
        self.sync_view();
        let mut view = View::clone(self.views.view());
        if link.is_of_second(self.log.fingerprint) {
            // The link keeps its times for the log that they are of.
            view = view.without_times();
        }
        link.view = view.or_times_of(&link.view);
        self.apply_link_now(ctx, link);
    }

    /// Applies the parts of a link that fit this log.
    fn apply_link_now(&mut self, ctx: &Context<Self>, link: Link) {
        let (Some(log), Some(combined_span)) = (self.log.overview.span, self.combined_span())
        else {
            return;
        };
        self.unknown_in_link.clone_from(&link.unknown);
        if link.newer() {
            self.dialogs.notice = Some(
                "This link is from a newer version of this page: parts of it may be ignored."
                    .to_owned(),
            );
        }
        self.sync_view();
        let mut view = link.view.clone();
        if link.is_of_second(self.log.fingerprint) {
            view = view.without_times().or_times_of(self.views.view());
        }
        let visible = view.visible.filter(|span| span.overlaps(combined_span));
        let notes = view.notes.len();
        let view = View {
            visible,
            ..view.inside(log)
        };
        self.report_left_out_notes(notes.saturating_sub(view.notes.len()));
        self.show(ctx, view);
        // The address has this view already; records it at once, so that Back returns to it.
        self.views.record(js_sys::Date::now());
        self.keep_panel();
        self.check_compared_logs(link);
    }

    /// Shows a notice if notes lie outside of the log.
    fn report_left_out_notes(&mut self, count: usize) {
        if count > 0 {
            let notes = format::pluralize(count as u64, "note");
            self.dialogs.notice = Some(format!("Left out {notes} outside of this log."));
        }
    }

    /// Shows a notice if a link is for another log, or compares two logs of which one is missing.
    fn check_compared_logs(&mut self, link: Link) {
        let (Some(linked), Some(print)) = (link.fingerprint, self.log.fingerprint) else {
            return;
        };
        let other = self.other.as_ref();
        let other_print = other.and_then(|other| other.log.fingerprint);
        let missing = match link.other {
            Some((role, missing)) if linked == print => {
                (other_print != Some(missing)).then_some((role, missing))
            }
            Some((role, its)) if its == print => Some((role.other(), linked)),
            _ if linked != print => {
                self.dialogs.notice = Some(format!(
                    "The link is for another log: that log has {}, this one {}. Settings that fit were applied.",
                    format::bytes(linked.len()),
                    format::bytes(print.len())
                ));
                return;
            }
            _ => return,
        };
        match missing {
            Some((role, missing)) => {
                self.dialogs.notice = Some(format!(
                    "The link compares two logs; this is the log “{}”. Also drop the log “{}”: it has {}.",
                    role.other().name(),
                    role.name(),
                    format::bytes(missing.len())
                ));
                self.pending_comparison = Some(link);
            }
            // The second log is still loading: the common time range is known later.
            None if other.is_some_and(|other| !other.log.is_open()) => {
                self.pending_comparison = Some(link);
            }
            None => {}
        }
    }

    /// Returns the role of a log in the pending comparison link, if it is one of its logs.
    pub(super) fn pending_role(&self, file: &LogFile) -> Option<Role> {
        let link = self.pending_comparison.as_ref()?;
        let (role, print) = link.other?;
        if file.fingerprint == Some(print) {
            Some(role)
        } else {
            (file.fingerprint == link.fingerprint).then_some(role.other())
        }
    }

    /// Returns whether a log is the missing one of the pending comparison link.
    pub(super) fn completes_comparison(&self, file: &LogFile) -> bool {
        self.pending_role(file).is_some() && file.fingerprint != self.log.fingerprint
    }

    /// Applies the pending comparison link once both logs are open.
    pub(super) fn apply_pending_comparison(&mut self, ctx: &Context<Self>) {
        let Some(link) = self.pending_comparison.take() else {
            return;
        };
        let is_exchanged = self.is_exchanged(&link);
        if self.fingerprints() != linked_fingerprints(&link) && !is_exchanged {
            return;
        }
        self.dialogs.notice = None;
        if is_exchanged {
            self.exchange(ctx);
            self.apply_link_now(ctx, link);
            self.mark_notes_saved();
        } else {
            self.apply_link_times(ctx, link);
        }
    }

    /// Returns the fingerprints of the primary and the second log.
    fn fingerprints(&self) -> (Option<Fingerprint>, Option<Fingerprint>) {
        let other = self.other.as_ref();
        (
            self.log.fingerprint,
            other.and_then(|other| other.log.fingerprint),
        )
    }

    /// Returns whether a link compares the open logs, with the second one as the primary log.
    fn is_exchanged(&self, link: &Link) -> bool {
        let (own, other) = linked_fingerprints(link);
        let here = self.fingerprints();
        own.is_some() && here == (other, own) && here != (own, other)
    }

    /// Handles a change of the address, by hand or by Back and Forward.
    pub(super) fn on_address_change(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.fragment = link::fragment();
        let link = link::read();
        // A followed log has no fingerprint, so its link may be empty.
        let has_link = self.log.fingerprint.is_some();
        self.is_home = link.is_none() && self.log.is_open() && has_link;
        let link = link.unwrap_or_default();
        if self.is_home || self.open_previous_for_link(ctx, &link) {
            return true;
        }
        let own = self.log.file.as_ref().and_then(|file| file.origin.url());
        if link.url.is_some() && link.url.as_deref() != own {
            self.pending_link = Some(link);
            self.open_linked(ctx);
        } else {
            self.apply_link(ctx, link);
        }
        true
    }
}
