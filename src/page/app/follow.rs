//! A log that is followed: whenever its file has grown, the rest is read.
//!
//! The file is looked at four times a second at most, never while the last look or what it led to
//! goes on, and no more than half of the time is spent with reading. What is shown stays until
//! there is more, and what the reader looks at stays in view.

use gloo_timers::callback::Timeout;
use gloo_utils::document;
use js_sys::Date;
use wasm_bindgen_futures::spawn_local;
use web_sys::{File, FileSystemFileHandle};
use yew::prelude::*;

use super::App;
use crate::files::{self, Behind, Origin};
use crate::follow_bar::{FollowBar, Says};
use crate::recent;
use crate::update::{after, callback};
use crate::viewer::Control;
use protocol::LogId;
use protocol::wire::LiveFile;
use scene::format;
use views::fingerprint::Fingerprint;
use views::trouble::{Code, Trouble};

/// How often the file is looked at.
const LOOK_MS: u32 = 250;
/// The same while the page is not seen.
const HIDDEN_MS: u32 = 2_000;
/// How often the threads are listed anew, and the shares of the capabilities told.
const LIST_MS: u32 = 1_000;
/// So much at the start of a file, and so much before where it ended, tells whether it has only
/// grown: a program begins a log with its own number and the time of day.
const HEAD_BYTES: u64 = 16 << 10;
const TAIL_BYTES: u64 = 256;

/// A log that is followed.
pub(super) struct Following {
    place: Place,
    /// What of the file was read; nothing before it was read for being followed.
    known: Option<Known>,
    step: Step,
    paused: bool,
    /// Whether the view goes along with the end.
    sticks: bool,
    /// Whether the file could be read when it was last looked at.
    is_there: bool,
    /// When more of it was read last, in milliseconds since 1970.
    grew_ms: f64,
    /// The next look at the file.
    next: Option<Timeout>,
    /// The next list of the threads.
    lists: Option<Timeout>,
}

/// Where the file is.
#[derive(Clone, Debug)]
enum Place {
    /// On the disk.
    Disk(FileSystemFileHandle),
    /// At an address of the site.
    Site(String),
}

/// What is going on.
#[derive(Clone, Debug, PartialEq)]
enum Step {
    /// Nothing, until the file is looked at next.
    Rests,
    /// The file is being looked at.
    Looks,
    /// The worker reads what the file has become, since then in milliseconds since 1970.
    Reads {
        known: Known,
        /// Whether that is another file than the one that is shown.
        is_another: bool,
        since_ms: f64,
    },
}

/// What tells a file that has grown from another one.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    len: u64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

/// What has become of the file.
enum Found {
    /// It is not there, or may not be read.
    Nothing,
    /// What it was, or it is being written to: the next look will tell.
    Unchanged,
    /// There is something to read.
    More(More),
}

/// What is to be read of a file.
struct More {
    file: File,
    known: Known,
    /// Whether it begins with what was read.
    goes_on: bool,
}

impl Known {
    /// What stands in a file; `None` if it was written to meanwhile.
    async fn of(file: &File) -> Option<Self> {
        let len = file.size() as u64;
        Some(Self {
            head: part(file, 0, HEAD_BYTES.min(len)).await?,
            tail: part(file, len.saturating_sub(TAIL_BYTES), len).await?,
            len,
        })
    }

    /// Whether a file begins with all that; `None` if it was written to meanwhile.
    async fn is_start_of(&self, file: &File) -> Option<bool> {
        if (file.size() as u64) < self.len {
            return Some(false);
        }
        let before = self.len - self.tail.len() as u64;
        let head = part(file, 0, self.head.len() as u64).await?;
        Some(head == self.head && part(file, before, self.len).await? == self.tail)
    }
}

/// Looks at a file of which that was read; `was` is the file as it was then.
async fn look(place: &Place, read: Option<&Known>, was: &File) -> Found {
    match place {
        Place::Disk(handle) => match recent::file(handle).await {
            Some(file) => look_into(file, read).await,
            None => Found::Nothing,
        },
        Place::Site(address) => look_at_site(address, read, was).await,
    }
}

/// Asks the site for what is behind the end of a file, and for all of it if that does not go on.
async fn look_at_site(address: &str, read: Option<&Known>, was: &File) -> Found {
    let Some(read) = read else {
        // What came is the file, until it is asked for once more.
        return look_into(was.clone(), None).await;
    };
    match files::behind(address, was, &read.tail).await {
        Ok(Behind::Nothing) => Found::Unchanged,
        Ok(Behind::More(file)) => look_into(file, Some(read)).await,
        Ok(Behind::Another) => match files::fetch(address, None, |_| ()).await {
            Ok(file) => look_into(file, Some(read)).await,
            Err(_) => Found::Nothing,
        },
        Err(_) => Found::Nothing,
    }
}

/// Looks at what a file is now.
async fn look_into(file: File, read: Option<&Known>) -> Found {
    if read.is_some_and(|read| read.len == file.size() as u64) {
        return Found::Unchanged;
    }
    let goes_on = match read {
        Some(read) => read.is_start_of(&file).await,
        None => Some(false),
    };
    match (goes_on, Known::of(&file).await) {
        (Some(goes_on), Some(known)) => Found::More(More {
            file,
            known,
            goes_on,
        }),
        _ => Found::Unchanged,
    }
}

async fn part(file: &File, from: u64, to: u64) -> Option<Vec<u8>> {
    files::bytes_of(file, from as f64, to as f64).await
}

fn now_ms() -> f64 {
    Date::now()
}

impl Following {
    /// Looks at the file after so long, unless it is paused.
    fn rest(&mut self, ctx: &Context<App>, ms: u32) {
        self.step = Step::Rests;
        self.next = (!self.paused).then(|| after(ctx, ms, App::look_at_file));
    }
}

impl App {
    /// Where the open log can be read again, or why it cannot be followed.
    fn followed_from(&self) -> Result<Place, &'static str> {
        let overview = &self.log.overview;
        let file = self.log.file.as_ref().filter(|_| self.log.is_open());
        let Some(file) = file else {
            return Err("A log can be followed once it is read.");
        };
        if self.other.is_some() {
            return Err("Two logs are compared: close one of them to follow the other.");
        }
        if overview.ended {
            return Err(
                "This log is whole: the program that wrote it has ended. Press R to read the file again when the program has run again.",
            );
        }
        if overview.report.is_some() || overview.bytes != file.file.size() as u64 {
            return Err(
                "Only eventlogs as the runtime writes them can be followed, not compressed ones and heap profiles in text.",
            );
        }
        match &file.origin {
            Origin::Handle(handle) => Ok(Place::Disk(handle.clone())),
            Origin::Address(address)
            | Origin::Linked {
                address: Some(address),
                ..
            } => Ok(Place::Site(address.clone())),
            Origin::Gone => Err(
                "The browser shows this page only the file that was dropped, not what becomes of it. Chrome and Edge can follow files that were dropped or chosen with Browse.",
            ),
            Origin::Linked { address: None, .. } => {
                Err("The log came from another host, which this page may not ask.")
            }
        }
    }

    /// Whether the log may be growing where it can be read again.
    pub(super) fn offers_to_follow(&self) -> bool {
        self.following.is_none() && self.followed_from().is_ok()
    }

    /// Follows the log that was just read, if whoever serves the page wants that.
    pub(super) fn follow_if_served_so(&mut self, ctx: &Context<Self>) {
        if files::is_served_to_follow()
            && self.following.is_none()
            && let Ok(place) = self.followed_from()
        {
            self.begin_to_follow(ctx, place);
        }
    }

    /// Follows the log, pauses that, or goes on.
    pub(super) fn follow(&mut self, ctx: &Context<Self>) -> bool {
        if let Some(following) = &mut self.following {
            following.paused = !following.paused;
            // What goes on ends first, and then looks again by itself.
            if following.step == Step::Rests {
                following.rest(ctx, 0);
            }
            return true;
        }
        match self.followed_from() {
            Ok(place) => self.begin_to_follow(ctx, place),
            Err(why) => self.dialogs.notice = Some(why.to_owned()),
        }
        true
    }

    fn begin_to_follow(&mut self, ctx: &Context<Self>, place: Place) {
        self.dialogs.notice = None;
        self.following = Some(Following {
            place,
            known: None,
            step: Step::Rests,
            paused: false,
            sticks: false,
            is_there: true,
            grew_ms: now_ms(),
            next: None,
            lists: None,
        });
        // A link to a log that grows is to none that there will be.
        self.log.fingerprint = None;
        self.look_at_file(ctx, ());
    }

    /// The view goes along with the end of the log, or not any more.
    pub(super) fn stick_to_end(&mut self) -> bool {
        let Some(following) = &mut self.following else {
            let why = "The view can stick to the end of a log that is followed (G).";
            self.dialogs.notice = Some(why.to_owned());
            return true;
        };
        following.sticks = !following.sticks;
        if following.sticks {
            self.viewer.act(|control| control.jump(true));
        }
        true
    }

    /// Follows the log no more; what was read of it stays.
    pub(super) fn stop_following(&mut self, ctx: &Context<Self>) -> bool {
        if self.following.take().is_none() {
            return false;
        }
        self.log_client.settle();
        if let Some(file) = self.log.file.as_ref().map(|file| file.file.clone()) {
            let told = callback(ctx, Self::print_came);
            spawn_local(async move {
                let print = files::fingerprint_of(&file).await;
                told.emit((file, print));
            });
        }
        self.list_anew(ctx, ());
        true
    }

    /// The log is what it will be: links can say which one it is.
    fn print_came(
        &mut self,
        ctx: &Context<Self>,
        (of, print): (File, Option<Fingerprint>),
    ) -> bool {
        let own = self.log.file.as_mut();
        if let Some(own) = own.filter(|own| own.file == of && self.following.is_none()) {
            own.fingerprint = print;
            self.log.fingerprint = print;
            self.will_settle(ctx);
        }
        false
    }

    /// Looks at the file after a while, unless it is paused; what went on has ended.
    pub(super) fn look_again(&mut self, ctx: &Context<Self>) {
        let Some(following) = &mut self.following else {
            return;
        };
        let least_ms = if document().hidden() {
            HIDDEN_MS
        } else {
            LOOK_MS
        };
        let pause_ms = match following.step {
            Step::Reads { since_ms, .. } => ((now_ms() - since_ms) as u32).max(least_ms),
            Step::Rests | Step::Looks => least_ms,
        };
        following.rest(ctx, pause_ms);
    }

    fn look_at_file(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        let was = self.log.file.as_ref().map(|file| file.file.clone());
        let following = self.following.as_mut();
        let Some((following, was)) = following.filter(|it| it.step == Step::Rests).zip(was) else {
            return false;
        };
        following.step = Step::Looks;
        let (known, place) = (following.known.clone(), following.place.clone());
        let found = callback(ctx, Self::looked);
        let log = self.log_client.log();
        spawn_local(async move { found.emit((log, look(&place, known.as_ref(), &was).await)) });
        false
    }

    /// The file was looked at.
    fn looked(&mut self, ctx: &Context<Self>, (log, found): (LogId, Found)) -> bool {
        let is_about = self.log_client.is_about(log);
        let Some(following) = self
            .following
            .as_mut()
            .filter(|it| is_about && it.step == Step::Looks)
        else {
            return false;
        };
        let was_there = following.is_there;
        following.is_there = !matches!(found, Found::Nothing);
        let changed = was_there != following.is_there;
        let Found::More(more) = found else {
            self.look_again(ctx);
            return changed;
        };
        following.step = Step::Reads {
            is_another: following.known.is_some() && !more.goes_on,
            known: more.known,
            since_ms: now_ms(),
        };
        let live = LiveFile {
            file: more.file.clone(),
            handle: match &following.place {
                Place::Disk(handle) => Some(handle.clone()),
                Place::Site(_) => None,
            },
        };
        self.log_client.grow(live, !more.goes_on);
        if let Some(own) = &mut self.log.file {
            own.file = more.file;
            own.fingerprint = None;
        }
        changed
    }

    /// More of the log is read.
    pub(super) fn grown(&mut self, ctx: &Context<Self>) {
        let Some(following) = &mut self.following else {
            // It was stopped while it was read.
            self.log_client.settle();
            return self.show_log();
        };
        let mut is_another = false;
        if let Step::Reads {
            known,
            is_another: of,
            ..
        } = &following.step
        {
            is_another = *of;
            following.known = Some(known.clone());
        }
        following.grew_ms = now_ms();
        // Who has moved away from the end wants to look there.
        following.sticks &= is_another || self.viewer.read(Control::sees_end);
        let sticks = following.sticks;
        if is_another {
            self.begun_anew();
        }
        self.show_log();
        if sticks {
            self.viewer.act(|control| {
                control.keep_end();
                None
            });
        }
        self.look_again(ctx);
        let lists = |it: &mut Following| it.lists.is_none();
        if self.following.as_mut().is_some_and(lists) {
            self.list_anew(ctx, ());
        }
        if self.log.overview.ended {
            self.stop_following(ctx);
            let size = format::bytes(self.log.overview.bytes);
            self.dialogs.notice = Some(format!(
                "The program has ended, and its log is whole: all {size} of it are read."
            ));
        }
    }

    /// Another file has taken the place of the log: nothing that is about single moments of it
    /// stays.
    fn begun_anew(&mut self) {
        self.log.threads.clear();
        self.log.pinned_threads.clear();
        self.log.times.clear();
        self.viewer.reset(self.log_client.clone());
        self.views.edit().selection = None;
        self.views.edit().visible = None;
        self.panel.names += 1;
        self.dialogs.notice = Some(format!(
            "“{}” was begun anew: the program runs again. It is read from its start.",
            self.log.name
        ));
    }

    /// Nothing more of the log could be shown.
    pub(super) fn not_grown(&mut self, ctx: &Context<Self>, is_short: bool) {
        if is_short {
            self.stop_following(ctx);
            self.fail(Trouble::new(Code::ShortOfMemory));
        }
        // One that has only begun has nothing to show yet.
        if let Some(following) = &mut self.following {
            following.rest(ctx, HIDDEN_MS);
        }
    }

    /// Lists the threads of a log that has grown, now and not again for a while.
    fn list_anew(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self.ask_threads(ctx);
        self.ask_usage(ctx);
        if let Some(following) = &mut self.following {
            following.lists = Some(after(ctx, LIST_MS, |app, _, ()| {
                if let Some(following) = &mut app.following {
                    following.lists = None;
                }
                false
            }));
        }
        false
    }

    /// What is said of a log that is followed, and what can be done about it.
    pub(super) fn view_following(&self) -> Html {
        let Some(following) = &self.following else {
            return Html::default();
        };
        let says = match (following.paused, following.is_there) {
            (true, _) => Says::Paused,
            (false, true) => Says::Follows,
            (false, false) => Says::Waits,
        };
        let span = self.log.overview.span;
        let length = span.map(|span| format::duration(span.duration()));
        html! {
            <FollowBar {says} length={length.unwrap_or_default()} grew_ms={following.grew_ms}
                sticks={following.sticks} on_action={self.callbacks.action.clone()} />
        }
    }
}
