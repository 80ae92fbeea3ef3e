//! The app: what is open, and how its parts hear of each other.

mod actions;
mod log;
mod palette;
mod panel;
mod show_in_flame;
mod view;

use std::ops::Range;
use std::rc::Rc;

use gloo_events::{EventListener, EventListenerOptions};
use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{DragEvent, File, HtmlElement, HtmlInputElement, KeyboardEvent};
use yew::prelude::*;

use crate::ui::client::{Client, ClientEvent, LogClient};
use crate::ui::dialog::Help;
use crate::ui::files::{self, Dropped, Sorted};
use crate::ui::flame::Shown;
use crate::ui::landing::{FileInput, Landing};
use crate::ui::palette::{Entry, Pick};
use crate::ui::panel::Marked;
use crate::ui::same::Same;
use crate::ui::viewer::{Control, Description, Goto, Place, Told, ViewerRef, VisibleItem};
use crate::ui::{link, theme};
use analysis::flamegraph::profiles::SourceInfo;
use views::tracks::details::FlameTarget;
use analysis::timeline::usage::UsageRow;
use views::tracks::Row;
use analysis::timeline::thread_table::ThreadView;
use analysis::timeline::threads::ThreadRow;
use eventlog::Progress;
use model::time::Span;
use views::events::EventList;
use views::notes::Notes;
use views::scene::arrange::{TrackChange, TrackView};
use views::scene::format;
use views::scene::history::History;
use views::scene::track::Layout;
use views::session::Overview;
use views::share::{Fingerprint, FlameView, Panel, TrackName, ViewState};

/// How many threads are listed.
const THREADS_LISTED: usize = 10_000;
/// When what the user does has settled, the address follows.
const SETTLED_MS: u32 = 250;
/// The same for the table of what is in view.
const FOLLOW_MS: u32 = 120;

/// What the app hears.
pub(super) enum Msg {
    Worker(ClientEvent),
    Viewer(Told),
    Open(File),
    Sample(&'static str),
    SampleFailed(String),
    Browse,
    Dropped(Dropped),
    /// Files were dropped or chosen.
    Files(Vec<File>),
    /// It is known what these files are.
    Sorted(Sorted),
    Dragging(bool),
    Cancel,
    /// The worker did not hear a cancel in time.
    Fingerprint(u32, Option<Fingerprint>),
    Threads(Vec<ThreadRow>, u64),
    PinnedThread(ThreadRow),
    Usage(Vec<UsageRow>),
    Filter(String),
    /// The table of what is in view shall follow.
    Visible,
    /// The details shall not stay open.
    Unpin,
    /// The tracks shall be shown otherwise.
    Tracks(TrackChange),
    Panel(Panel),
    /// All that is wrong or odd about the log is to be shown.
    Diagnostics,
    Flame(FlameView),
    Events(EventList),
    ThreadTable(ThreadView),
    Theme,
    Contrast,
    ThemeChanged,
    Help(bool),
    /// The help, where it tells what the marks mean.
    Legend,
    Picked(Pick),
    PaletteClosed,
    /// The palette shall be opened.
    Commands,
    Notes(Notes),
    AddNote,
    Key(KeyboardEvent),
    Goto(Goto),
    /// A call or a sample is to be shown in the flame graph.
    ShowInFlame(FlameTarget),
    Share,
    Copied(bool),
    Settled,
    HashChanged,
    ClearRange,
    DismissNotice,
    ResizePanel(f64),
}

/// What is on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Screen {
    Landing,
    /// A log is being read; it is shown as soon as something is known of it.
    Loading,
    Open,
}

/// The log that is open or being opened.
#[derive(Clone, Debug, Default)]
struct Log {
    name: String,
    fingerprint: Option<Fingerprint>,
    overview: Rc<Overview>,
    /// What flame graphs can be about.
    flame_sources: Rc<Vec<SourceInfo>>,
    progress: Progress,
    events: u64,
    /// How long the reading took.
    elapsed_ms: Option<f64>,
    threads: Vec<ThreadRow>,
    threads_in_all: u64,
    /// Pinned threads that are not among the listed ones.
    pinned_threads: Vec<ThreadRow>,
    /// The usage of the whole log, for the notes beside the capabilities.
    usage: Vec<UsageRow>,
}

/// The root component.
pub(super) struct App {
    client: Client,
    /// Whom panels ask about the open log.
    log_client: LogClient,
    viewer: ViewerRef,
    screen: Screen,
    log: Log,
    /// Goes up with every opened file.
    generation: u32,
    /// What the address asked for, until it is applied.
    wanted: Option<ViewState>,
    error: Option<String>,
    notice: Option<String>,
    dragging: bool,
    help: bool,
    /// Whether the help begins with the marks.
    legend: bool,
    /// What the palette offers while it is open.
    palette: Option<Rc<Vec<Entry>>>,
    copied: bool,
    colours: u32,
    /// The tracks with their places.
    layout: Same<Layout>,
    /// What the hidden tracks are called.
    hidden: Vec<(TrackName, String)>,
    /// Which of the tracks that scroll are seen.
    seen: Range<usize>,
    /// The track that the keyboard is on.
    track: Option<TrackName>,
    /// What is in view, for its table.
    visible: Same<Vec<VisibleItem>>,
    follow: Option<Timeout>,
    range: Option<Span>,
    /// What was clicked last on the timeline.
    place: Option<Place>,
    description: Option<Rc<Description>>,
    /// The item that was clicked, whose details stay open.
    pinned: Option<Rc<Description>>,
    /// Where to go when the thread that is meant has a track.
    goto_when_listed: Option<Goto>,
    /// Which tracks are shown, and how.
    tracks: TrackView,
    /// What the panels are told of the selected tracks.
    marked: Rc<Marked>,
    /// What was in view, to go back to.
    history: History<Span>,
    panel: Panel,
    panel_hidden: bool,
    /// How often the diagnostics were asked for while their panel is open.
    diagnostics_asked: u32,
    flame: FlameView,
    /// What the timeline asked the flame graph to show.
    flame_shown: Option<Shown>,
    /// Goes up whenever addresses have got other names.
    names: u32,
    /// Which events are listed; their range is the selected one.
    events: EventList,
    /// How the table of threads is shown.
    thread_table: ThreadView,
    notes: Rc<Notes>,
    /// The note whose name is to be written, and how often that was asked for.
    note_focus: Option<(usize, u32)>,
    settle: Option<Timeout>,
    file_input: NodeRef,
    filter_input: NodeRef,
    panel_node: NodeRef,
    panel_px: f64,
    _listeners: Vec<EventListener>,
}

impl Component for App {
    type Message = Msg;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let on_worker = ctx.link().callback(Msg::Worker);
        let client = Client::start(move |message| on_worker.emit(message));
        let on_viewer = ctx.link().callback(Msg::Viewer);
        let viewer = ViewerRef::new(client.no_log(), move |event| on_viewer.emit(event));
        Self {
            log_client: client.no_log(),
            client,
            viewer,
            screen: Screen::Landing,
            log: Log::default(),
            generation: 0,
            wanted: link::read(),
            error: None,
            notice: None,
            dragging: false,
            help: false,
            legend: false,
            palette: None,
            copied: false,
            colours: 0,
            layout: Same::default(),
            hidden: Vec::new(),
            seen: 0..0,
            track: None,
            visible: Same::default(),
            follow: None,
            range: None,
            place: None,
            description: None,
            pinned: None,
            goto_when_listed: None,
            tracks: TrackView::default(),
            marked: Rc::default(),
            history: History::default(),
            panel: Panel::default(),
            panel_hidden: false,
            diagnostics_asked: 0,
            flame: FlameView::default(),
            flame_shown: None,
            names: 0,
            events: EventList::default(),
            thread_table: ThreadView::default(),
            notes: Rc::default(),
            note_focus: None,
            settle: None,
            file_input: NodeRef::default(),
            filter_input: NodeRef::default(),
            panel_node: NodeRef::default(),
            panel_px: stored_panel_px(),
            _listeners: listen(ctx),
        }
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Worker(message) => return self.hear(ctx, message),
            Msg::Viewer(event) => return self.viewed(ctx, event),
            Msg::Open(file) => self.open(ctx, &file),
            Msg::Sample(path) => {
                let link = ctx.link().clone();
                spawn_local(async move {
                    link.send_message(match files::fetch_sample(path).await {
                        Ok(file) => Msg::Open(file),
                        Err(why) => Msg::SampleFailed(why),
                    });
                });
                return false;
            }
            Msg::SampleFailed(why) => {
                self.error = Some(format!(
                    "The sample could not be fetched: {why}. Reload the page and try again."
                ));
            }
            Msg::Browse => {
                if let Some(input) = self.file_input.cast::<HtmlInputElement>() {
                    input.click();
                }
                return false;
            }
            Msg::Dropped(dropped) => self.dropped(ctx, dropped),
            Msg::Files(files) => {
                let link = ctx.link().clone();
                spawn_local(async move {
                    link.send_message(Msg::Sorted(files::sort(files).await));
                });
                return false;
            }
            Msg::Sorted(sorted) => self.sorted(ctx, sorted),
            Msg::Dragging(dragging) => {
                let changed = self.dragging != dragging;
                self.dragging = dragging;
                return changed;
            }
            Msg::Cancel => self.cancel(),
            Msg::Fingerprint(generation, print) => {
                if generation == self.generation {
                    self.log.fingerprint = print;
                    self.compare_with_link();
                    self.changed(ctx);
                }
            }
            Msg::Threads(rows, total) => {
                self.log.threads = rows;
                self.log.threads_in_all = total;
                self.ask_pinned_threads(ctx);
                self.show_log();
                if self.palette.is_some() {
                    self.open_palette();
                }
                if let Some(goto) = self.goto_when_listed.take() {
                    self.viewer.act(|control| control.goto(goto));
                }
            }
            Msg::PinnedThread(row) => {
                self.log.pinned_threads.push(row);
                self.show_tracks();
            }
            Msg::Usage(rows) => self.usage_came(rows),
            Msg::Filter(filter) => {
                self.tracks.filter = filter;
                self.show_tracks();
                self.ask_threads(ctx);
                self.changed(ctx);
            }
            Msg::Visible => {
                self.follow = None;
                self.visible = Same::new(self.viewer.read(Control::visible_items));
            }
            Msg::Unpin => {
                self.viewer.act(Control::pin_details);
                return false;
            }
            Msg::Tracks(change) => self.change_tracks(ctx, change),
            Msg::Panel(panel) => {
                self.panel = panel;
                self.panel_hidden = false;
                self.diagnostics_asked = 0;
                self.note_focus = None;
                self.follow_view(ctx);
                self.changed(ctx);
            }
            Msg::Diagnostics => {
                self.panel = Panel::Process;
                self.panel_hidden = false;
                self.diagnostics_asked += 1;
                self.changed(ctx);
            }
            Msg::Flame(view) => {
                self.flame = view;
                self.changed(ctx);
            }
            Msg::Events(list) => {
                self.events = list;
                self.changed(ctx);
            }
            Msg::ThreadTable(view) => {
                self.thread_table = view;
                self.changed(ctx);
            }
            Msg::Theme => {
                theme::apply(theme::next(theme::choice()), theme::contrast());
                self.recolour();
            }
            Msg::Contrast => {
                theme::apply(theme::choice(), theme::other(theme::contrast()));
                self.recolour();
            }
            Msg::ThemeChanged => self.recolour(),
            Msg::Help(open) => (self.help, self.legend) = (open, false),
            Msg::Legend => (self.help, self.legend) = (true, true),
            Msg::Picked(pick) => self.picked(ctx, pick),
            Msg::PaletteClosed => self.palette = None,
            Msg::Commands => self.open_palette(),
            Msg::Notes(notes) => {
                self.note_focus = None;
                self.set_notes(ctx, notes);
            }
            Msg::AddNote => self.add_note(ctx),
            Msg::Key(event) => return self.key(ctx, &event),
            Msg::Goto(goto) => self.goto(ctx, goto),
            Msg::ShowInFlame(target) => self.show_in_flame(ctx, target),
            Msg::Share => self.share(ctx),
            Msg::Copied(copied) => self.copied = copied,
            Msg::Settled => {
                self.settle = None;
                let view = self.viewer.read(|control| control.viewport().span());
                self.history.settled(view);
                link::write(&self.state());
                return false;
            }
            Msg::HashChanged => return self.follow_address(),
            Msg::ClearRange => {
                self.viewer.act(|control| control.select_range(None));
                return self.clear_marks(ctx);
            }
            Msg::DismissNotice => self.notice = None,
            Msg::ResizePanel(px) => {
                self.panel_px = px;
                store_panel_px(px);
            }
        }
        true
    }

    fn rendered(&mut self, _: &Context<Self>, _: bool) {
        if let Some(panel) = self.panel_node.cast::<HtmlElement>() {
            // A length is always a valid height.
            let _ = panel
                .style()
                .set_property("height", &format!("{}px", self.panel_px));
        }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let link = ctx.link();
        let shown = self.screen == Screen::Open
            || (self.screen == Screen::Loading && self.log.overview.span.is_some());
        html! {
            <>
                <FileInput node={self.file_input.clone()} on_files={link.callback(Msg::Files)} />
                if shown {
                    { self.view_log(ctx) }
                } else if self.screen == Screen::Loading {
                    <main class="landing">{ self.view_loading(ctx) }</main>
                } else {
                    <Landing link={self.wanted.as_ref().map(|state| AttrValue::from(link::promise(state)))}
                        error={self.error.clone().map(AttrValue::from)}
                        notice={self.notice.clone().map(AttrValue::from)}
                        on_browse={link.callback(|()| Msg::Browse)}
                        on_sample={link.callback(Msg::Sample)} />
                }
                { self.view_palette(ctx) }
                if self.dragging {
                    <div class="overlay" aria-hidden="true"><p>{ "Drop it anywhere" }</p></div>
                }
                if self.help {
                    <Help legend={self.legend} colours={self.colours} on_close={link.callback(|()| Msg::Help(false))} />
                }
            </>
        }
    }
}

/// Listeners of the whole page.
fn listen(ctx: &Context<App>) -> Vec<EventListener> {
    let window = gloo_utils::window();
    let document = gloo_utils::document();
    let options = EventListenerOptions::enable_prevent_default();
    let drag = |name: &'static str, msg: fn(&DragEvent) -> Option<Msg>| {
        let link = ctx.link().clone();
        EventListener::new_with_options(&document, name, options, move |event| {
            if let Some(event) = event
                .dyn_ref::<DragEvent>()
                .filter(|event| files::has_files(event))
            {
                event.prevent_default();
                if let Some(msg) = msg(event) {
                    link.send_message(msg);
                }
            }
        })
    };
    let left = |event: &DragEvent| {
        event
            .related_target()
            .is_none()
            .then_some(Msg::Dragging(false))
    };
    let dropped = |event: &DragEvent| {
        event
            .data_transfer()
            .map(|data| Msg::Dropped(files::dropped(&data)))
    };
    let key = {
        let link = ctx.link().clone();
        EventListener::new_with_options(&document, "keydown", options, move |event| {
            if let Some(event) = event.dyn_ref::<KeyboardEvent>() {
                link.send_message(Msg::Key(event.clone()));
            }
        })
    };
    let hash = {
        let link = ctx.link().clone();
        EventListener::new(&window, "hashchange", move |_| {
            link.send_message(Msg::HashChanged)
        })
    };
    let mut listeners = vec![
        drag("dragenter", |_| Some(Msg::Dragging(true))),
        drag("dragover", |_| Some(Msg::Dragging(true))),
        drag("dragleave", left),
        drag("drop", dropped),
        key,
        hash,
    ];
    for query in ["(prefers-color-scheme: dark)", "(prefers-contrast: more)"] {
        if let Ok(Some(list)) = window.match_media(query) {
            let link = ctx.link().clone();
            listeners.push(EventListener::new(&list, "change", move |_| {
                link.send_message(Msg::ThemeChanged)
            }));
        }
    }
    listeners
}

const PANEL_KEY: &str = "eventscope-panel-px";

fn stored_panel_px() -> f64 {
    let storage = gloo_utils::window().local_storage().ok().flatten();
    let stored = storage.and_then(|storage| storage.get_item(PANEL_KEY).ok().flatten());
    let px = stored
        .and_then(|text| text.parse::<f64>().ok())
        .unwrap_or(300.0);
    if px.is_finite() {
        px.clamp(80.0, 2000.0)
    } else {
        300.0
    }
}

fn store_panel_px(px: f64) {
    if let Ok(Some(storage)) = gloo_utils::window().local_storage() {
        // Where nothing can be stored, the height is forgotten.
        let _ = storage.set_item(PANEL_KEY, &px.to_string());
    }
}

impl App {
    /// Takes over what a link says.
    fn apply(&mut self, state: ViewState) {
        let inside = |span: Span| {
            let log = self.log.overview.span?;
            let span = Span::new(span.start.max(log.start), span.end.min(log.end));
            (span.start < span.end).then_some(span)
        };
        // The view may reach a little beyond the log; a range may not.
        let visible = state.visible.filter(|span| inside(*span).is_some());
        let range = state.selection.and_then(inside);
        self.tracks = state.tracks.clone();
        self.client.set_span_prefixes(&self.tracks.prefixes);
        self.show_tracks();
        self.panel = state.panel;
        self.flame = state.flame.clone();
        self.events = state.events.clone();
        self.thread_table = state.threads.clone();
        let mut notes = state.notes.clone();
        if let Some(log) = self.log.overview.span {
            notes.keep_in(log);
        }
        self.notes = Rc::new(notes);
        self.viewer.set_notes(&self.notes);
        if state.newer() {
            self.notice = Some("This link was made by a newer version of this page: some of it may be missing here.".to_owned());
        }
        let item = link::item(&state, &self.log.overview.contents);
        self.viewer
            .act(|control| control.show_view(visible, range, item));
        self.wanted = Some(state).filter(|state| state.fingerprint.is_some());
    }

    /// Says so if a link is about another log.
    fn compare_with_link(&mut self) {
        let wanted = self.wanted.as_ref().and_then(|state| state.fingerprint);
        if self.screen != Screen::Open {
            return;
        }
        if let (Some(wanted), Some(print)) = (wanted, self.log.fingerprint) {
            self.wanted = None;
            if wanted != print {
                self.notice = Some(format!(
                    "The link was made for another log, of {}; this one has {}. What fits was applied.",
                    format::bytes(wanted.len()),
                    format::bytes(print.len())
                ));
            }
        }
    }

    fn follow_address(&mut self) -> bool {
        let Some(state) = link::read() else {
            return false;
        };
        if self.screen == Screen::Open {
            self.apply(state);
            self.compare_with_link();
        } else {
            self.wanted = Some(state);
        }
        true
    }

    /// The view as a link says it.
    fn state(&self) -> ViewState {
        ViewState {
            fingerprint: self.log.fingerprint,
            visible: self.viewer.read(Control::visible),
            selection: self.viewer.read(Control::range),
            selected: link::selected(
                self.viewer.read(Control::selected),
                &self.log.overview.contents,
            ),
            panel: self.panel,
            tracks: self.tracks.clone(),
            flame: self.flame.clone(),
            events: self.events.clone(),
            threads: self.thread_table.clone(),
            notes: (*self.notes).clone(),
            ..ViewState::default()
        }
    }

    /// Something changed that the address says.
    fn changed(&mut self, ctx: &Context<Self>) {
        if self.screen == Screen::Open {
            let link = ctx.link().clone();
            self.settle = Some(Timeout::new(SETTLED_MS, move || {
                link.send_message(Msg::Settled)
            }));
        }
    }

    /// The table of what is in view follows when it can be seen.
    fn follow_view(&mut self, ctx: &Context<Self>) {
        if self.panel == Panel::InView {
            let link = ctx.link().clone();
            self.follow = Some(Timeout::new(FOLLOW_MS, move || {
                link.send_message(Msg::Visible)
            }));
        }
    }

    fn share(&mut self, ctx: &Context<Self>) {
        let state = self.state();
        link::write(&state);
        let Some(href) = link::href(&state) else {
            return;
        };
        let link = ctx.link().clone();
        let clipboard = gloo_utils::window().navigator().clipboard();
        let copying = clipboard.write_text(&href);
        spawn_local(async move {
            let copied = JsFuture::from(copying).await.is_ok();
            link.send_message(Msg::Copied(copied));
            if copied {
                gloo_timers::future::TimeoutFuture::new(2500).await;
                link.send_message(Msg::Copied(false));
            }
        });
    }

    /// Shows on the timeline what was clicked in a panel. A thread that is
    /// not among its tracks is filtered for.
    fn goto(&mut self, ctx: &Context<Self>, goto: Goto) {
        if let Some(Row::Thread(thread)) = goto.row
            && self.log.threads.iter().all(|row| row.id != thread)
        {
            self.goto_when_listed = Some(goto);
            ctx.link().send_message(Msg::Filter(format!("#{thread}")));
            return;
        }
        self.viewer.act(|control| control.goto(goto));
    }

    fn recolour(&mut self) {
        self.colours += 1;
        self.viewer.redraw();
    }

    fn viewed(&mut self, ctx: &Context<Self>, event: Told) -> bool {
        match event {
            Told::Described(description) => {
                let changed = self.description != description;
                self.description = description;
                return changed;
            }
            Told::Pinned(pinned) => {
                let changed = self.pinned != pinned;
                self.pinned = pinned;
                return changed;
            }
            Told::Range(range) => self.range = range,
            Told::Clicked(place) => self.place = Some(place),
            Told::Changed => {
                self.changed(ctx);
                return false;
            }
            Told::Marks => {
                self.follow_view(ctx);
                return false;
            }
            Told::Seen(seen) => self.seen = seen,
            Told::Current(track) => self.track = track,
            // The viewer does these itself.
            Told::Scroll(_) | Told::Hold(_) => return false,
        }
        true
    }
}
