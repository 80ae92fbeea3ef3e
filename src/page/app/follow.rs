//! Live reading: follows a log whose file is still growing.
//!
//! The file is checked at most four times a second, never while an earlier check or read is in progress, and reading
//! takes at most half of the time. The page keeps its contents until more data has arrived; the visible range stays.

use gloo_timers::callback::Timeout;
use gloo_utils::document;
use js_sys::Date;
use wasm_bindgen_futures::spawn_local;
use web_sys::{File, FileSystemFileHandle};
use yew::prelude::*;

use super::App;
use crate::files::{self, Origin, Remainder};
use crate::follow_bar::{FollowBar, FollowStatus};
use crate::recent;
use crate::update::{callback, update_after};
use crate::viewer::Control;
use protocol::LogId;
use protocol::wire::LiveFile;
use scene::format;
use views::fingerprint::Fingerprint;
use views::page_error::{Code, PageError};

/// Minimum delay between two checks of the file.
const CHECK_MS: u32 = 250;
/// Minimum delay while the page is hidden, and after an unsuccessful read.
const HIDDEN_MS: u32 = 2_000;
/// Minimum delay between two updates of the thread list and of the capability usage.
const LIST_MS: u32 = 1_000;
/// Bytes at the start of a file that are compared to detect whether it was only appended to: the log of another run
/// differs there by its process id and time of day.
const HEAD_BYTES: u64 = 16 << 10;
const TAIL_BYTES: u64 = 256;

/// State of live reading.
pub(super) struct Follow {
    location: FileLocation,
    /// Length and samples of what was last read; `None` before the first read.
    sample: Option<FileSample>,
    phase: Phase,
    paused: bool,
    /// Whether the view sticks to the end of the log.
    sticks_to_end: bool,
    /// Whether the file was readable at the last check.
    is_readable: bool,
    /// Time of the last successful read, in milliseconds since 1970.
    grew_ms: f64,
    /// Timer of the next check.
    check_timer: Option<Timeout>,
    /// Runs until the thread list may be updated again.
    list_timer: Option<Timeout>,
    /// Whether the log has grown since the last update of the thread list.
    is_list_outdated: bool,
}

/// Location of a followed file.
#[derive(Clone, Debug)]
enum FileLocation {
    /// A file on disk.
    Disk(FileSystemFileHandle),
    /// A URL of the page's own site.
    Site(String),
}

/// Phase of the check-and-read cycle.
#[derive(Clone, Debug, PartialEq)]
enum Phase {
    /// Idle until the next check, or paused.
    Idle,
    /// The file is being checked.
    Checking,
    /// The worker reads the new contents, since `since_ms` (milliseconds since 1970).
    Reading {
        sample: FileSample,
        /// Whether the file was replaced rather than appended to.
        is_replacement: bool,
        since_ms: f64,
    },
}

/// Length and samples of a file, to distinguish appending from replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FileSample {
    len: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

/// Result of a check.
enum CheckResult {
    /// The file is missing or not readable.
    Missing,
    /// The file is unchanged, or was written to during the check; the next check decides.
    Unchanged,
    /// The contents changed.
    Changed(FileChange),
}

/// Changed contents of a followed file.
struct FileChange {
    file: File,
    sample: FileSample,
    /// Whether the file starts with what was read before.
    is_appended: bool,
}

impl FileSample {
    /// Samples a file; `None` if it was written to meanwhile.
    async fn read(file: &File) -> Option<Self> {
        let len = file.size() as u64;
        Some(Self {
            head: read_range(file, 0, HEAD_BYTES.min(len)).await?,
            tail: read_range(file, len.saturating_sub(TAIL_BYTES), len).await?,
            len,
        })
    }

    /// Returns whether a file starts with this one; `None` if it was written to meanwhile.
    async fn is_start_of(&self, file: &File) -> Option<bool> {
        if (file.size() as u64) < self.len {
            return Some(false);
        }
        let before = self.len - self.tail.len() as u64;
        let head = read_range(file, 0, self.head.len() as u64).await?;
        Some(head == self.head && read_range(file, before, self.len).await? == self.tail)
    }
}

/// Checks a file against what was read of it; `previous` is the file as it was then.
async fn check(location: &FileLocation, read: Option<&FileSample>, previous: &File) -> CheckResult {
    match location {
        FileLocation::Disk(handle) => match recent::file(handle).await {
            Some(file) => compare(file, read).await,
            None => CheckResult::Missing,
        },
        FileLocation::Site(address) => check_site(address, read, previous).await,
    }
}

/// Requests the bytes after the known end from the site, or the whole file if it was replaced.
async fn check_site(address: &str, read: Option<&FileSample>, previous: &File) -> CheckResult {
    let Some(read) = read else {
        // The downloaded file is current until the next check.
        return compare(previous.clone(), None).await;
    };
    match files::fetch_remainder(address, previous, &read.tail).await {
        Ok(Remainder::Empty) => CheckResult::Unchanged,
        Ok(Remainder::Appended(file)) => compare(file, Some(read)).await,
        Ok(Remainder::Replaced) => match files::fetch(address, None, |_| ()).await {
            Ok(file) => compare(file, Some(read)).await,
            Err(_) => CheckResult::Missing,
        },
        Err(_) => CheckResult::Missing,
    }
}

/// Compares the current file with what was read before.
async fn compare(file: File, read: Option<&FileSample>) -> CheckResult {
    if read.is_some_and(|read| read.len == file.size() as u64) {
        return CheckResult::Unchanged;
    }
    let is_appended = match read {
        Some(read) => read.is_start_of(&file).await,
        None => Some(false),
    };
    match (is_appended, FileSample::read(&file).await) {
        (Some(is_appended), Some(sample)) => CheckResult::Changed(FileChange {
            file,
            sample,
            is_appended,
        }),
        _ => CheckResult::Unchanged,
    }
}

async fn read_range(file: &File, from: u64, to: u64) -> Option<Vec<u8>> {
    files::bytes_of(file, from as f64, to as f64).await
}

fn now_ms() -> f64 {
    Date::now()
}

impl Follow {
    /// Schedules the next check in `ms` milliseconds, unless paused.
    fn schedule_check(&mut self, ctx: &Context<App>, ms: u32) {
        self.phase = Phase::Idle;
        self.check_timer = (!self.paused).then(|| update_after(ctx, ms, App::check_file));
    }
}

impl App {
    /// Returns the location from which the open log can be followed, or the reason why it cannot be.
    fn follow_location(&self) -> Result<FileLocation, &'static str> {
        let overview = &self.log.overview;
        let file = self.log.file.as_ref().filter(|_| self.log.is_open());
        let Some(file) = file else {
            return Err("Wait until the log is read, then follow it.");
        };
        if self.other.is_some() {
            return Err("Only a single log can be followed: close one of the two.");
        }
        if overview.ended {
            return Err(
                "This log is complete: its program has ended. Press R to reload the file after another run.",
            );
        }
        if overview.report.is_some() || overview.bytes != file.file.size() as u64 {
            return Err(
                "Only uncompressed eventlogs can be followed, not compressed files or text heap profiles.",
            );
        }
        match &file.origin {
            Origin::Handle(handle) => Ok(FileLocation::Disk(handle.clone())),
            Origin::Address(address)
            | Origin::Linked {
                address: Some(address),
                ..
            } => Ok(FileLocation::Site(address.clone())),
            Origin::Snapshot => Err(
                "This browser does not let pages see later changes of a file. Chrome and Edge can follow files that were dropped or chosen with Browse.",
            ),
            Origin::Linked { address: None, .. } => {
                Err("The log came from another host, to which this page may not connect.")
            }
        }
    }

    /// Returns whether following the open log can be offered.
    pub(super) fn can_follow(&self) -> bool {
        self.follow.is_none() && self.follow_location().is_ok()
    }

    /// Follows the log that was just read if the server asked for that (`eventscope view`).
    pub(super) fn follow_if_requested(&mut self, ctx: &Context<Self>) {
        if files::is_follow_requested()
            && self.follow.is_none()
            && let Ok(location) = self.follow_location()
        {
            self.start_following(ctx, location);
        }
    }

    /// Starts, pauses or resumes following the log.
    pub(super) fn toggle_follow(&mut self, ctx: &Context<Self>) -> bool {
        if let Some(follow) = &mut self.follow {
            follow.paused = !follow.paused;
            // A check or read in progress finishes first and then reschedules itself.
            if follow.phase == Phase::Idle {
                follow.schedule_check(ctx, 0);
            }
            return true;
        }
        match self.follow_location() {
            Ok(location) => self.start_following(ctx, location),
            Err(why) => self.dialogs.notice = Some(why.to_owned()),
        }
        true
    }

    fn start_following(&mut self, ctx: &Context<Self>, location: FileLocation) {
        self.dialogs.notice = None;
        self.follow = Some(Follow {
            location,
            sample: None,
            phase: Phase::Idle,
            paused: false,
            sticks_to_end: false,
            is_readable: true,
            grew_ms: now_ms(),
            check_timer: None,
            list_timer: None,
            is_list_outdated: false,
        });
        // A growing log has no lasting fingerprint, so links to it cannot identify it.
        self.log.fingerprint = None;
        self.check_file(ctx, ());
    }

    /// Toggles whether the view sticks to the end of the log.
    pub(super) fn stick_to_end(&mut self) -> bool {
        let Some(follow) = &mut self.follow else {
            let why = "The view can stick to the end only while the log is followed (G).";
            self.dialogs.notice = Some(why.to_owned());
            return true;
        };
        follow.sticks_to_end = !follow.sticks_to_end;
        if follow.sticks_to_end {
            self.viewer.act(|control| control.jump(true));
        }
        true
    }

    /// Stops following the log; what was read stays.
    pub(super) fn stop_following(&mut self, ctx: &Context<Self>) -> bool {
        if self.follow.take().is_none() {
            return false;
        }
        self.log_client.stop_following();
        if let Some(file) = self.log.file.as_ref().map(|file| file.file.clone()) {
            let on_fingerprint = callback(ctx, Self::on_fingerprint);
            spawn_local(async move {
                let print = files::fingerprint_of(&file).await;
                on_fingerprint.emit((file, print));
            });
        }
        self.refresh_threads(ctx, ());
        true
    }

    /// Stores the fingerprint of the final file, so that links identify the log again.
    fn on_fingerprint(
        &mut self,
        ctx: &Context<Self>,
        (of, print): (File, Option<Fingerprint>),
    ) -> bool {
        let own = self.log.file.as_mut();
        if let Some(own) = own.filter(|own| own.file == of && self.follow.is_none()) {
            own.fingerprint = print;
            self.log.fingerprint = print;
            self.schedule_address_update(ctx);
        }
        false
    }

    /// Schedules the next check after a check or read has ended.
    pub(super) fn schedule_next_check(&mut self, ctx: &Context<Self>) {
        let Some(follow) = &mut self.follow else {
            return;
        };
        let min_ms = if document().hidden() {
            HIDDEN_MS
        } else {
            CHECK_MS
        };
        let pause_ms = match follow.phase {
            Phase::Reading { since_ms, .. } => ((now_ms() - since_ms) as u32).max(min_ms),
            Phase::Idle | Phase::Checking => min_ms,
        };
        follow.schedule_check(ctx, pause_ms);
    }

    fn check_file(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        let previous = self.log.file.as_ref().map(|file| file.file.clone());
        let follow = self.follow.as_mut();
        let Some((follow, previous)) = follow
            .filter(|follow| follow.phase == Phase::Idle)
            .zip(previous)
        else {
            return false;
        };
        follow.phase = Phase::Checking;
        let (sample, location) = (follow.sample.clone(), follow.location.clone());
        let on_checked = callback(ctx, Self::on_checked);
        let log = self.log_client.log();
        spawn_local(async move {
            on_checked.emit((log, check(&location, sample.as_ref(), &previous).await))
        });
        false
    }

    /// Handles the result of a check.
    fn on_checked(&mut self, ctx: &Context<Self>, (log, result): (LogId, CheckResult)) -> bool {
        let is_about = self.log_client.is_about(log);
        let Some(follow) = self
            .follow
            .as_mut()
            .filter(|follow| is_about && follow.phase == Phase::Checking)
        else {
            return false;
        };
        let was_readable = follow.is_readable;
        follow.is_readable = !matches!(result, CheckResult::Missing);
        let changed = was_readable != follow.is_readable;
        let CheckResult::Changed(change) = result else {
            self.schedule_next_check(ctx);
            return changed;
        };
        follow.phase = Phase::Reading {
            is_replacement: follow.sample.is_some() && !change.is_appended,
            sample: change.sample,
            since_ms: now_ms(),
        };
        let live = LiveFile {
            file: change.file.clone(),
            handle: match &follow.location {
                FileLocation::Disk(handle) => Some(handle.clone()),
                FileLocation::Site(_) => None,
            },
        };
        self.log_client.grow(live, !change.is_appended);
        if let Some(own) = &mut self.log.file {
            own.file = change.file;
            own.fingerprint = None;
        }
        changed
    }

    /// Shows what the worker has read in addition.
    pub(super) fn on_grown(&mut self, ctx: &Context<Self>) {
        let Some(follow) = &mut self.follow else {
            // Following was stopped during the read.
            self.log_client.stop_following();
            return self.show_log();
        };
        let mut is_replacement = false;
        if let Phase::Reading {
            sample,
            is_replacement: replaced,
            ..
        } = &follow.phase
        {
            is_replacement = *replaced;
            follow.sample = Some(sample.clone());
        }
        follow.grew_ms = now_ms();
        // A view that was moved away from the end no longer sticks to it.
        follow.sticks_to_end &= is_replacement || self.viewer.read(Control::sees_end);
        let sticks_to_end = follow.sticks_to_end;
        if is_replacement {
            self.on_file_replaced();
        }
        self.show_log();
        if sticks_to_end {
            self.viewer.edit(Control::follow_end);
        }
        self.schedule_next_check(ctx);
        match &mut self.follow {
            Some(follow) if follow.list_timer.is_some() => follow.is_list_outdated = true,
            Some(_) => {
                self.refresh_threads(ctx, ());
            }
            None => {}
        }
        if self.log.overview.ended {
            self.stop_following(ctx);
            let size = format::bytes(self.log.overview.bytes);
            self.dialogs.notice = Some(format!(
                "The program has ended; all {size} of its log are read."
            ));
        }
    }

    /// Resets all state tied to times of the old log after its file was replaced.
    fn on_file_replaced(&mut self) {
        self.log.threads.clear();
        self.log.pinned_threads.clear();
        self.log.times.clear();
        self.viewer.reset(self.log_client.clone());
        self.show_heap_choice(&self.viewer);
        self.views.edit().selection = None;
        self.views.edit().visible = None;
        self.panel.names += 1;
        self.dialogs.notice = Some(format!(
            "“{}” was overwritten by a new run. Reading it from the start.",
            self.log.name
        ));
    }

    /// Handles a read that yielded nothing to show; `hit_memory_limit` means lack of memory.
    pub(super) fn on_not_grown(&mut self, ctx: &Context<Self>, hit_memory_limit: bool) {
        if hit_memory_limit {
            self.stop_following(ctx);
            self.show_error(PageError::new(Code::ShortOfMemory));
        }
        // A file that was just created has no events yet.
        if let Some(follow) = &mut self.follow {
            follow.schedule_check(ctx, HIDDEN_MS);
        }
    }

    /// Updates the thread list and usage of a log that has grown, and starts the delay until the next update.
    fn refresh_threads(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.ask_threads(ctx);
        self.ask_usage(ctx);
        if let Some(follow) = &mut self.follow {
            follow.list_timer = Some(update_after(ctx, LIST_MS, |app, ctx, ()| {
                let Some(follow) = &mut app.follow else {
                    return false;
                };
                follow.list_timer = None;
                std::mem::take(&mut follow.is_list_outdated) && app.refresh_threads(ctx, ())
            }));
        }
        false
    }

    /// Renders the status and controls of live reading.
    pub(super) fn view_follow_bar(&self) -> Html {
        let Some(follow) = &self.follow else {
            return Html::default();
        };
        let status = match (follow.paused, follow.is_readable) {
            (true, _) => FollowStatus::Paused,
            (false, true) => FollowStatus::Following,
            (false, false) => FollowStatus::FileMissing,
        };
        let span = self.log.overview.span;
        let length = span.map(|span| format::duration(span.duration()));
        html! {
            <FollowBar {status} length={length.unwrap_or_default()} grew_ms={follow.grew_ms}
                sticks_to_end={follow.sticks_to_end} on_action={self.callbacks.action.clone()} />
        }
    }
}
