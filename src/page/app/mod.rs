//! The root of the page. It only routes: what the browser, the worker, the
//! timeline and the panels say goes to what it concerns, and what is rendered
//! follows from there.
//!
//! - [`files`]: files that are dropped or chosen.
//! - [`remote`]: logs that come over the network.
//! - [`log`]: the log that is open or being opened.
//! - [`other`]: the second log beside it.
//! - [`follow`]: a log that is read on as it grows.
//! - [`merge`]: several logs as one.
//! - [`again`]: logs that are opened again, and the first page while a log is open.
//! - [`notes`]: adding, walking along, saving notes.
//! - [`show`]: the view: changing it, going back, the address.
//! - [`tour`]: the tour through a sample.
//! - [`perform`]: what keys and the palette make the page do.
//! - [`palette`]: what the palette offers.
//! - [`report`]: saving a report.
//! - [`listen`]: what the whole page listens to.
//! - [`page`]: what it looks like.
//! - [`callbacks`]: what its parts call.

mod again;
mod callbacks;
mod files;
mod follow;
mod links;
mod listen;
mod log;
mod merge;
mod notes;
mod other;
mod page;
mod palette;
mod perform;
mod remote;
mod report;
mod show;
mod tour;

use std::ops::Range;
use std::rc::Rc;

use callbacks::Callbacks;
use follow::Following;
use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use merge::{MadeOf, Merging};
use other::Other;
use remote::Remote;
use yew::prelude::*;

use crate::client::{Client, LogClient};
use crate::files::LogFile;
use crate::landing;
use crate::link;
use crate::open_log::OpenLog;
use crate::palette::Entry;
use crate::panel::{Marked, PanelRequest};
use crate::ptr_eq::PtrEq;
use crate::update::{Update, callback};
use crate::viewer::{
    Control, Description, Goto, Place, TimelineEvent, ViewerNumber, ViewerRef, VisibleItem,
};
use session::tracks::name::TrackName;
use views::notes::Notes;
use views::share::Link;
use views::timeline::layout::Layout;
use views::trouble::Trouble;
use views::view::View;
use views::view::store::ViewStore;

/// What stands before or above the page.
#[derive(Default)]
struct Dialogs {
    /// What did not work.
    trouble: Option<Trouble>,
    notice: Option<String>,
    /// Whether files are being dragged over the page.
    dragging: bool,
    /// The help, if it is open: whether it begins with the marks.
    help: Option<bool>,
    /// What the palette offers while it is open.
    palette: Option<Rc<Vec<Entry>>>,
    /// Whether the link was just copied.
    copied: bool,
    /// The link whose dialog is open, and whether it could be copied.
    share: Option<(Rc<Link>, Option<bool>)>,
    /// A log that came while another one is open: it is to be said what with it.
    offered: Option<LogFile>,
    /// Whether what is chosen next is to be compared with the open log.
    compares: bool,
    /// Whether it is to be merged with it.
    merges: bool,
    /// Logs of which one is to be made, while it is asked how, or done.
    merging: Option<Merging>,
}

/// What the timeline says, and its tracks.
#[derive(Default)]
struct TimelineState {
    /// The tracks with their places.
    layout: PtrEq<Layout>,
    /// What the hidden tracks are called.
    hidden: Vec<(TrackName, String)>,
    /// The tracks that are scrolled into view, by their places.
    seen: Range<usize>,
    /// The track that the keyboard is on.
    track: Option<TrackName>,
    description: Option<Rc<Description>>,
    /// The item that was clicked, whose details stay open.
    pinned: Option<Rc<Description>>,
    /// What was clicked last.
    place: Option<Place>,
    /// Where to go when the thread that is meant has a track.
    goto_when_listed: Option<Goto>,
}

/// What panels are told beside the view.
#[derive(Default)]
struct PanelState {
    /// The selected tracks.
    marked: Rc<Marked>,
    /// The view that the panel has while a range is dragged; it follows a few
    /// times a second.
    held: Option<Rc<View>>,
    /// What is in view, for its table.
    items: PtrEq<Vec<VisibleItem>>,
    wish: Option<(u32, PanelRequest)>,
    /// Goes up whenever the colours change.
    colours: u32,
    /// Goes up whenever addresses have got other names.
    names: u32,
}

/// What happens when the user has paused.
#[derive(Default)]
struct Pauses {
    /// The address follows the view.
    settle: Option<Timeout>,
    /// The table of what is in view follows the timeline.
    follow: Option<Timeout>,
    /// What is known of a log that is being read is shown again.
    overview: Option<Timeout>,
    /// The panel follows a range that is dragged.
    range: Option<Timeout>,
}

/// The root component.
pub(super) struct App {
    client: Client,
    /// Whom the page asks about the open log.
    log_client: LogClient,
    viewer: ViewerRef,
    callbacks: Callbacks,
    log: OpenLog,
    /// The log beside it, if two are compared.
    other: Option<Other>,
    /// The log is read on as it grows, if that is wanted.
    following: Option<Following>,
    /// How the log was made that was merged last.
    made_of: Option<MadeOf>,
    /// Whether the first page is shown, although a log is open.
    is_home: bool,
    /// The log that was open before, with the view of it.
    before: Option<(LogFile, Link)>,
    /// The notes as they were when they were saved, or came.
    kept_notes: Rc<Notes>,
    /// How many timelines there were.
    viewers: u32,
    /// What the address asked for, until it is applied.
    wanted: Option<Link>,
    /// A link that compares two logs, until both are there.
    wanted_pair: Option<Link>,
    /// The step of the tour that is shown.
    touring: Option<usize>,
    /// The fragment of the address as the page wrote or read it last.
    fragment: String,
    views: ViewStore,
    timeline: TimelineState,
    panel: PanelState,
    dialogs: Dialogs,
    remote: Remote,
    pauses: Pauses,
    filter_input: NodeRef,
    _listeners: Vec<EventListener>,
    _resolution: Option<EventListener>,
}

impl Component for App {
    type Message = Update<Self>;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let on_worker = callback(ctx, Self::hear);
        let client = Client::start(move |message| on_worker.emit(message));
        let filter_input = NodeRef::default();
        let mut app = Self {
            viewer: timeline(ctx, ViewerNumber(0), client.no_log()),
            log_client: client.no_log(),
            client,
            callbacks: Callbacks::new(ctx),
            log: OpenLog::default(),
            other: None,
            following: None,
            made_of: None,
            is_home: false,
            before: None,
            kept_notes: Rc::default(),
            viewers: 1,
            wanted: link::read(),
            wanted_pair: None,
            touring: None,
            fragment: link::fragment(),
            views: ViewStore::default(),
            timeline: TimelineState::default(),
            panel: PanelState::default(),
            dialogs: Dialogs::default(),
            remote: Remote::default(),
            pauses: Pauses::default(),
            _listeners: listen::listen(ctx, filter_input.clone()),
            filter_input,
            _resolution: listen::other_resolution(ctx),
        };
        app.open_remote(ctx);
        app
    }

    fn rendered(&mut self, _: &Context<Self>, is_first_time: bool) {
        if is_first_time {
            landing::started();
        }
    }

    fn update(&mut self, ctx: &Context<Self>, act: Update<Self>) -> bool {
        act(self, ctx)
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        // Not once all is rendered: on a busy machine both pages would be seen until then.
        self.show_first();
        self.page(ctx)
    }
}

/// A timeline whose words the page hears.
fn timeline(ctx: &Context<App>, number: ViewerNumber, client: LogClient) -> ViewerRef {
    let told = callback(ctx, App::told);
    ViewerRef::new(number, client, move |from, what| told.emit((from, what)))
}

impl App {
    /// Another timeline.
    fn new_viewer(&mut self, ctx: &Context<Self>, client: LogClient) -> ViewerRef {
        let number = ViewerNumber(self.viewers);
        self.viewers += 1;
        timeline(ctx, number, client)
    }

    /// A timeline says something.
    fn told(&mut self, ctx: &Context<Self>, (from, told): (ViewerNumber, TimelineEvent)) -> bool {
        if from != self.viewer.number() {
            let is_other = (self.other.as_ref()).is_some_and(|it| it.viewer.number() == from);
            return is_other && self.told_by_other(ctx, told);
        }
        let timeline = &mut self.timeline;
        match told {
            TimelineEvent::Described(description) => {
                let changed = timeline.description != description;
                timeline.description = description;
                return changed;
            }
            TimelineEvent::Pinned(pinned) => {
                let changed = timeline.pinned != pinned;
                timeline.pinned = pinned;
                return changed;
            }
            TimelineEvent::Range(range) => self.range_changed(ctx, range),
            TimelineEvent::Band(key) => return self.pin_band(ctx, &key),
            TimelineEvent::Clicked(place) => timeline.place = Some(place),
            TimelineEvent::Changed => {
                self.will_settle(ctx);
                // A range that was dragged is let go.
                let follows = !self.is_dragging() && self.panel_follows();
                return follows || self.axis().is_some();
            }
            TimelineEvent::Marks => {
                self.will_follow(ctx);
                return false;
            }
            TimelineEvent::Seen(seen) => timeline.seen = seen,
            TimelineEvent::Current(track) => timeline.track = track,
            // The timeline does these itself.
            TimelineEvent::Scroll(_) | TimelineEvent::Hold(_) => return false,
        }
        true
    }

    /// Something is wished of a panel, which is open now.
    fn wish(&mut self, wish: PanelRequest) {
        let number = self.panel.wish.map_or(0, |(number, _)| number);
        self.panel.wish = Some((number + 1, wish));
        self.uncover_panel();
    }

    /// The details of the clicked item do not stay open.
    fn unpin(&mut self, _: &Context<Self>, (): ()) -> bool {
        self.viewer.act(Control::pin_details);
        false
    }

    /// All wakeups of the thread that was clicked are shown, or no longer.
    fn show_all_wakeups(&mut self, _: &Context<Self>, (): ()) -> bool {
        self.viewer.act(Control::show_all_wakeups);
        false
    }

    /// Paints everything for the resolution of now.
    fn rescale(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self._resolution = listen::other_resolution(ctx);
        self.recolour(ctx, ())
    }

    fn recolour(&mut self, _: &Context<Self>, (): ()) -> bool {
        self.panel.colours += 1;
        self.viewer.redraw();
        if let Some(other) = &self.other {
            other.viewer.redraw();
        }
        true
    }
}
