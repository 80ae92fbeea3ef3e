//! Root component of the page: routes events of the browser, the worker, the timelines and the panels.
//!
//! - `files`: dropped and chosen files.
//! - `remote`: logs fetched over the network.
//! - `log`: the primary log, open or loading; the panels show this one.
//! - `other`: the second log of a comparison.
//! - `follow`: live reading of a log whose file grows.
//! - `merge`: merging of several logs into one.
//! - `reopen`: reopening of logs, and the landing page while a log is open.
//! - `notes`: adding, stepping through and saving notes; the question before unsaved ones are lost.
//! - `show`: changes of the view, and navigation.
//! - `links`: the link in the address.
//! - `tour`: the guided tour through a sample.
//! - `perform`: actions of keys and of the command palette.
//! - `palette`: entries of the command palette.
//! - `report`: saving of a report.
//! - `listen`: event listeners of the whole page.
//! - `page`: rendering.
//! - `callbacks`: shared callbacks of the child components.

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
mod reopen;
mod report;
mod show;
mod tour;

use std::ops::Range;
use std::rc::Rc;

use callbacks::Callbacks;
use follow::Follow;
use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use merge::{MergeDialog, MergeInputs};
use notes::Closing;
use other::Other;
use remote::Remote;
use yew::prelude::*;

use crate::client::{Client, LogClient};
use crate::details::CardAction;
use crate::files::LogFile;
use crate::heads::focus_current_of;
use crate::landing;
use crate::link;
use crate::open_log::OpenLog;
use crate::palette::Entry;
use crate::panel::{PanelRequest, TrackSelection};
use crate::ptr_eq::PtrEq;
use crate::update::{ComponentUpdate, callback};
use crate::viewer::{
    ClickPosition, Control, Description, NavigationTarget, TimelineEvent, ViewerNumber, ViewerRef,
    VisibleItem,
};
use session::tracks::name::TrackName;
use views::heap::settings::HeapView;
use views::notes::Notes;
use views::page_error::PageError;
use views::share::{Link, Unknown};
use views::timeline::layout::Layout;
use views::view::View;
use views::view::store::ViewStore;

/// State of dialogs, messages and overlays, and of pending file choices.
#[derive(Default)]
struct Dialogs {
    /// The last error, until it is dismissed.
    error: Option<PageError>,
    notice: Option<String>,
    /// Whether files are being dragged over the page.
    dragging: bool,
    /// The help dialog, if open: whether it starts with the legend.
    help: Option<bool>,
    /// Entries of the command palette while it is open.
    palette: Option<Rc<Vec<Entry>>>,
    /// Whether a link was copied a moment ago.
    copied: bool,
    /// Link in the open share dialog, and whether copying it worked; `None` until that is known.
    share: Option<(Rc<Link>, Option<bool>)>,
    /// A log that arrived while another one is open, until the user decides what to do with it.
    offered_log: Option<LogFile>,
    /// What closes logs with unsaved notes, until the user confirms it.
    closing: Option<Closing>,
    /// Whether the next chosen file is compared with the open log.
    compare_next: bool,
    /// Whether the next chosen files are merged with the open log.
    merge_next: bool,
    /// Logs in the open merge dialog.
    merging: Option<MergeDialog>,
}

impl Dialogs {
    /// Forgets what the files of a file dialog were for: it may have been cancelled, of which the page does not hear.
    fn forget_file_choice(&mut self) {
        self.compare_next = false;
        self.merge_next = false;
    }
}

/// Tracks of one timeline, and the state that it has reported.
#[derive(Default)]
struct TimelineState {
    /// Visible tracks with their positions.
    layout: PtrEq<Layout>,
    /// Hidden tracks with their display names.
    hidden: Vec<(TrackName, String)>,
    /// Index range in `layout` of the tracks that are scrolled into view.
    tracks_in_view: Range<usize>,
    /// Track with the keyboard focus.
    track: Option<TrackName>,
    description: Option<Rc<Description>>,
    /// Clicked item whose details stay open.
    pinned: Option<Rc<Description>>,
    /// Last clicked position, which the event list follows.
    clicked: Option<ClickPosition>,
    /// Deferred navigation to a thread that has no track yet; done once the thread list has arrived.
    goto_when_listed: Option<NavigationTarget>,
}

/// Inputs of the panels other than the view.
#[derive(Default)]
struct PanelState {
    /// Selected tracks, which limit most panels.
    track_selection: Rc<TrackSelection>,
    /// The view that the panel keeps while a range is dragged; it is refreshed every 150 ms.
    frozen_view: Option<Rc<View>>,
    /// Visible items, for the table of items in view.
    items: PtrEq<Vec<VisibleItem>>,
    request: Option<(u32, PanelRequest)>,
    /// Number of requests so far, none of which has the number of another.
    request_count: u32,
    /// Incremented whenever the colors change.
    color_generation: u32,
    /// Incremented whenever symbol names of addresses change.
    names: u32,
}

/// Debounce and throttle timers.
#[derive(Default)]
struct Timers {
    /// Updates the address once the view has settled.
    address: Option<Timeout>,
    /// Updates the table of items in view.
    items: Option<Timeout>,
    /// Shows the next overview of a loading log.
    overview: Option<Timeout>,
    /// Updates the panel while a range is dragged.
    range: Option<Timeout>,
}

/// Root component, which owns the state of the whole page.
pub(super) struct App {
    client: Client,
    /// Query client of the primary log.
    log_client: LogClient,
    viewer: ViewerRef,
    callbacks: Callbacks,
    log: OpenLog,
    /// The second log, if two are compared.
    other: Option<Other>,
    /// Live reading, if the log is followed.
    follow: Option<Follow>,
    /// Inputs and settings of the last merge.
    last_merge: Option<MergeInputs>,
    /// Whether the landing page covers the open log.
    is_home: bool,
    /// The previously open log, with the link to its last view and its saved notes.
    previous: Option<(LogFile, Link, Rc<Notes>)>,
    /// The notes as last saved, shared or loaded.
    saved_notes: Rc<Notes>,
    /// Parts of the last link that only a newer version understands, which stay in the address.
    unknown_in_link: Unknown,
    /// Number of timelines created so far; the next one gets this number.
    viewer_count: u32,
    /// Link to apply once the log is open.
    pending_link: Option<Link>,
    /// Link that compares two logs, until both are open.
    pending_comparison: Option<Link>,
    /// Index of the current tour step.
    tour_step: Option<usize>,
    /// Fragment of the address as last written or read by the page.
    fragment: String,
    views: ViewStore,
    timeline: TimelineState,
    panel: PanelState,
    dialogs: Dialogs,
    remote: Remote,
    timers: Timers,
    filter_input: NodeRef,
    _listeners: Vec<EventListener>,
    _resolution: Option<EventListener>,
}

impl TimelineState {
    /// Stores an event of the timeline that concerns nothing else; returns whether it changed the state, or an event
    /// of another kind.
    fn receive(&mut self, event: TimelineEvent) -> Result<bool, TimelineEvent> {
        match event {
            TimelineEvent::Described(description) => {
                let old = std::mem::replace(&mut self.description, description);
                Ok(old != self.description)
            }
            TimelineEvent::Pinned(pinned) => {
                let old = std::mem::replace(&mut self.pinned, pinned);
                Ok(old != self.pinned)
            }
            TimelineEvent::TracksInView(tracks_in_view) => {
                self.tracks_in_view = tracks_in_view;
                Ok(true)
            }
            TimelineEvent::TrackFocused(track) => {
                self.track = track;
                Ok(true)
            }
            other => Err(other),
        }
    }
}

impl Component for App {
    type Message = ComponentUpdate<Self>;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let on_worker = callback(ctx, Self::on_client_event);
        let client = Client::start(move |message| on_worker.emit(message));
        let filter_input = NodeRef::default();
        let mut app = Self {
            viewer: timeline(ctx, ViewerNumber(0), client.no_log()),
            log_client: client.no_log(),
            client,
            callbacks: Callbacks::new(ctx),
            log: OpenLog::default(),
            other: None,
            follow: None,
            last_merge: None,
            is_home: false,
            previous: None,
            saved_notes: Rc::default(),
            unknown_in_link: Unknown::default(),
            viewer_count: 1,
            pending_link: link::read(),
            pending_comparison: None,
            tour_step: None,
            fragment: link::fragment(),
            views: ViewStore::default(),
            timeline: TimelineState::default(),
            panel: PanelState::default(),
            dialogs: Dialogs::default(),
            remote: Remote::default(),
            timers: Timers::default(),
            _listeners: listen::listen(ctx, filter_input.clone()),
            filter_input,
            _resolution: listen::listen_to_resolution(ctx),
        };
        app.open_remote(ctx);
        app
    }

    fn rendered(&mut self, _: &Context<Self>, is_first_time: bool) {
        if is_first_time {
            landing::started();
        }
    }

    fn update(&mut self, ctx: &Context<Self>, act: ComponentUpdate<Self>) -> bool {
        act(self, ctx)
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        // Not in `rendered`: on a busy machine both pages would be visible until then.
        self.update_landing();
        self.page(ctx)
    }
}

/// Creates a timeline that reports its events to the page.
fn timeline(ctx: &Context<App>, number: ViewerNumber, client: LogClient) -> ViewerRef {
    let on_event = callback(ctx, App::on_timeline_event);
    ViewerRef::new(number, client, move |from, event| {
        on_event.emit((from, event))
    })
}

impl App {
    /// Creates a timeline with the next free number.
    fn new_viewer(&mut self, ctx: &Context<Self>, client: LogClient) -> ViewerRef {
        let number = ViewerNumber(self.viewer_count);
        self.viewer_count += 1;
        let viewer = timeline(ctx, number, client);
        self.show_heap_choice(&viewer);
        viewer
    }

    /// Shows the chosen bands of the heap profile on a new or reset timeline.
    fn show_heap_choice(&self, viewer: &ViewerRef) {
        let heap = self.views.view().settings.get::<HeapView>().choice;
        viewer.edit(|control| control.set_heap(&heap));
    }

    /// Handles an event of a timeline.
    fn on_timeline_event(
        &mut self,
        ctx: &Context<Self>,
        (from, event): (ViewerNumber, TimelineEvent),
    ) -> bool {
        if from != self.viewer.number() {
            let is_other = (self.other.as_ref()).is_some_and(|it| it.viewer.number() == from);
            return is_other && self.on_other_timeline_event(ctx, event);
        }
        let event = match self.timeline.receive(event) {
            Ok(is_changed) => return is_changed,
            Err(event) => event,
        };
        match event {
            TimelineEvent::Range(range) => self.range_changed(ctx, range),
            TimelineEvent::BandClicked(key) => return self.pin_band(ctx, &key),
            TimelineEvent::Clicked(place) => self.timeline.clicked = Some(place),
            TimelineEvent::ViewChanged => {
                self.schedule_address_update(ctx);
                // The drag of a range may have ended.
                let is_unfrozen = !self.is_dragging() && self.unfreeze_panel();
                return is_unfrozen || self.axis().is_some();
            }
            TimelineEvent::MarksReplaced => {
                self.schedule_items_update(ctx);
                return false;
            }
            // The timeline handles all others itself.
            _ => return false,
        }
        true
    }

    /// Sends a request to the open panel.
    fn request_panel(&mut self, request: PanelRequest) {
        self.panel.request_count += 1;
        self.panel.request = Some((self.panel.request_count, request));
        self.close_covering_details();
    }

    /// Handles a click on the card of an item. Panels show the primary log: to show an item of the other log there,
    /// the logs are exchanged.
    fn on_card_action(
        &mut self,
        ctx: &Context<Self>,
        (of, action): (ViewerNumber, CardAction),
    ) -> bool {
        let is_own = of == self.viewer.number();
        let is_for_panel = matches!(action, CardAction::Flame(_) | CardAction::Event(_));
        if !is_own && is_for_panel && !self.exchange_if_read(ctx) {
            return true;
        }
        let viewer = self.viewers().find(|viewer| viewer.number() == of);
        match (action, viewer) {
            (CardAction::Flame(target), _) => return self.show_in_flame(ctx, target),
            (CardAction::Event(place), _) => return self.show_event(ctx, place),
            (CardAction::Goto(goto), _) if is_own => return self.goto(ctx, goto),
            (CardAction::Goto(goto), Some(viewer)) => {
                viewer.act(|control| control.navigate(goto));
                return true;
            }
            (CardAction::Wakeups, Some(viewer)) => viewer.act(Control::show_all_wakeups),
            (CardAction::Close, Some(viewer)) => {
                viewer.act(Control::pin_details);
                // The focused button goes with the card.
                focus_current_of(of);
            }
            (_, None) => {}
        }
        false
    }

    /// Returns the open timelines, that of the primary log first.
    fn viewers(&self) -> impl Iterator<Item = &ViewerRef> {
        let other = self.other.as_ref().map(|other| &other.viewer);
        std::iter::once(&self.viewer).chain(other)
    }

    /// Repaints everything for the current screen resolution.
    fn rescale(&mut self, ctx: &Context<Self>, (): ()) -> bool {
        self._resolution = listen::listen_to_resolution(ctx);
        self.recolor(ctx, ())
    }

    fn recolor(&mut self, _: &Context<Self>, (): ()) -> bool {
        self.panel.color_generation += 1;
        self.viewers().for_each(ViewerRef::redraw);
        true
    }
}
