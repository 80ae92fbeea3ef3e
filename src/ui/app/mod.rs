//! The root of the page. It only routes: what the browser, the worker, the
//! timeline and the panels say goes to what it concerns, and what is rendered
//! follows from there.
//!
//! - [`files`]: files that are dropped or chosen.
//! - [`log`]: the log that is open or being opened.
//! - [`show`]: the view: changing it, going back, the address.
//! - [`perform`]: what keys and the palette make the page do.
//! - [`palette`]: what the palette offers.
//! - [`listen`]: what the whole page listens to.
//! - [`page`]: what it looks like.

mod files;
mod listen;
mod log;
mod page;
mod palette;
mod perform;
mod show;

use std::ops::Range;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use web_sys::KeyboardEvent;
use yew::prelude::*;

use crate::ui::client::{Client, ClientEvent, LogClient};
use crate::ui::link;
use crate::ui::open_log::OpenLog;
use crate::ui::palette::{Entry, Pick};
use crate::ui::panel::{Marked, Wish};
use crate::ui::same::Same;
use crate::ui::viewer::{Description, Goto, Place, Told, ViewerRef, VisibleItem};
use files::FileNews;
use log::LogNews;
use views::actions::Action;
use views::share::Link;
use views::timeline::layout::Layout;
use views::tracks::details::FlameTarget;
use views::tracks::name::TrackName;
use views::view::Change;
use views::view::store::ViewStore;

/// What the page hears.
pub(super) enum Msg {
    /// The worker says something.
    Worker(ClientEvent),
    /// The timeline says something.
    Timeline(Told),
    /// More is known of the log.
    Log(LogNews),
    /// Files come, or are looked for.
    Files(FileNews),
    /// The view shall be another one.
    Change(Change),
    /// An action was asked for.
    Do(Action),
    Key(KeyboardEvent),
    /// Something of a panel shall be shown on the timeline.
    Goto(Goto),
    /// A call or a sample is to be shown in the flame graph.
    ShowInFlame(FlameTarget),
    /// All that is wrong or odd about the log is to be shown.
    Diagnostics,
    /// The details shall not stay open.
    Unpin,
    /// The selection of a range and of tracks shall go.
    DropSelection,
    /// The table of what is in view shall follow.
    FollowTimeline,
    Dialog(DialogNews),
    /// The view has settled.
    Settled,
    AddressChanged,
    ColoursChanged,
}

/// What happens with what stands before the page.
pub(super) enum DialogNews {
    HelpClosed,
    Picked(Pick),
    PaletteClosed,
    Copied(bool),
    DismissNotice,
}

/// What stands before or above the page.
#[derive(Default)]
struct Dialogs {
    /// Why nothing could be opened.
    error: Option<String>,
    notice: Option<String>,
    /// Whether files are being dragged over the page.
    dragging: bool,
    /// The help, if it is open: whether it begins with the marks.
    help: Option<bool>,
    /// What the palette offers while it is open.
    palette: Option<Rc<Vec<Entry>>>,
    /// Whether the link was just copied.
    copied: bool,
}

/// What the timeline says, and its tracks.
#[derive(Default)]
struct TimelineState {
    /// The tracks with their places.
    layout: Same<Layout>,
    /// What the hidden tracks are called.
    hidden: Vec<(TrackName, String)>,
    /// Which of the tracks that scroll are seen.
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
    /// What is in view, for its table.
    items: Same<Vec<VisibleItem>>,
    wish: Option<(u32, Wish)>,
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
}

/// The root component.
pub(super) struct App {
    client: Client,
    /// Whom the page asks about the open log.
    log_client: LogClient,
    viewer: ViewerRef,
    log: OpenLog,
    /// What the address asked for, until it is applied.
    wanted: Option<Link>,
    views: ViewStore,
    timeline: TimelineState,
    panel: PanelState,
    dialogs: Dialogs,
    pauses: Pauses,
    file_input: NodeRef,
    filter_input: NodeRef,
    _listeners: Vec<EventListener>,
}

impl Component for App {
    type Message = Msg;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let on_worker = ctx.link().callback(Msg::Worker);
        let client = Client::start(move |message| on_worker.emit(message));
        let on_timeline = ctx.link().callback(Msg::Timeline);
        Self {
            viewer: ViewerRef::new(client.no_log(), move |told| on_timeline.emit(told)),
            log_client: client.no_log(),
            client,
            log: OpenLog::default(),
            wanted: link::read(),
            views: ViewStore::default(),
            timeline: TimelineState::default(),
            panel: PanelState::default(),
            dialogs: Dialogs::default(),
            pauses: Pauses::default(),
            file_input: NodeRef::default(),
            filter_input: NodeRef::default(),
            _listeners: listen::listen(ctx),
        }
    }

    /// The result is whether the page has to be rendered anew.
    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Worker(message) => self.hear(ctx, message),
            Msg::Timeline(told) => self.told(ctx, told),
            Msg::Log(news) => self.log_news(ctx, news),
            Msg::Files(news) => self.file_news(ctx, news),
            Msg::Change(change) => self.change(ctx, change),
            Msg::Do(action) => self.perform(ctx, action),
            Msg::Key(event) => self.key(ctx, &event),
            Msg::Goto(goto) => self.goto(ctx, goto),
            Msg::ShowInFlame(target) => self.show_in_flame(ctx, target),
            Msg::Diagnostics => self.show_diagnostics(ctx),
            Msg::Unpin => {
                self.viewer.act(crate::ui::viewer::Control::pin_details);
                false
            }
            Msg::DropSelection => self.drop_selection(ctx),
            Msg::FollowTimeline => self.follow_timeline(),
            Msg::Dialog(news) => self.dialog_news(ctx, news),
            Msg::Settled => self.settled(),
            Msg::AddressChanged => self.follow_address(ctx),
            Msg::ColoursChanged => self.recolour(),
        }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        self.page(ctx)
    }
}

impl App {
    fn dialog_news(&mut self, ctx: &Context<Self>, news: DialogNews) -> bool {
        match news {
            DialogNews::HelpClosed => self.dialogs.help = None,
            DialogNews::Picked(pick) => self.picked(ctx, pick),
            DialogNews::PaletteClosed => self.dialogs.palette = None,
            DialogNews::Copied(copied) => self.dialogs.copied = copied,
            DialogNews::DismissNotice => self.dialogs.notice = None,
        }
        true
    }

    /// The timeline says something.
    fn told(&mut self, ctx: &Context<Self>, told: Told) -> bool {
        let timeline = &mut self.timeline;
        match told {
            Told::Described(description) => {
                let changed = timeline.description != description;
                timeline.description = description;
                return changed;
            }
            Told::Pinned(pinned) => {
                let changed = timeline.pinned != pinned;
                timeline.pinned = pinned;
                return changed;
            }
            Told::Range(range) => self.views.edit().selection = range,
            Told::Clicked(place) => timeline.place = Some(place),
            Told::Changed => {
                self.will_settle(ctx);
                return false;
            }
            Told::Marks => {
                self.will_follow(ctx);
                return false;
            }
            Told::Seen(seen) => timeline.seen = seen,
            Told::Current(track) => timeline.track = track,
            // The timeline does these itself.
            Told::Scroll(_) | Told::Hold(_) => return false,
        }
        true
    }

    /// Something is wished of a panel, which is open now.
    fn wish(&mut self, wish: Wish) {
        let number = self.panel.wish.map_or(0, |(number, _)| number);
        self.panel.wish = Some((number + 1, wish));
    }

    fn recolour(&mut self) -> bool {
        self.panel.colours += 1;
        self.viewer.redraw();
        true
    }
}
