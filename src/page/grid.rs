//! Virtualized table of any number of rows: it holds and renders only the rows in view, and requests them from its
//! panel with `on_window`. The user can rearrange the columns; panels number them by their original order.

mod columns;
mod head;
mod rows;
mod scroll;
mod sortable;

use std::ops::Range;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::dom::{consume, has_modifier, set_style, state_callback};
use super::pending_values::PendingValues;
use super::timeline::Observer;
use columns::{ColumnsMenu, is_narrow};
use eventlog::ids::ThreadId;
use head::Head;
use model::time::Interval;
pub(super) use rows::{Branch, GridRow, Rows};
use scroll::ROW_PX;
use session::tracks::TrackId;
pub(super) use sortable::{SortableColumns, sortable_columns};
pub(super) use views::columns::Column;
use views::columns::{Arrangement, Change};
use views::current_row::CurrentRow;
pub(super) use views::current_row::LoadedItems;

/// Delay after the last scroll event until the scroll bar is moved to its exact position.
const SCROLL_END_MS: u32 = 200;

/// Row that the keyboard or a click moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowActivated {
    pub(super) row: u64,
    /// Whether to extend the selection to this row (Shift).
    pub(super) extend: bool,
}

/// Row to scroll to; a changed `serial` triggers the scroll.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScrollTo {
    pub(super) serial: u32,
    pub(super) row: u64,
}

/// Rows requested first, until the grid reports its visible rows.
pub(super) const FIRST_ROWS: Range<u64> = 0..100;

/// Returns the requested rows of a table, and its current row, which is forgotten when `shown` changes: another
/// range or order is another table.
#[hook]
pub(super) fn use_rows<D: PartialEq + 'static>(
    shown: D,
) -> (
    UseStateHandle<Range<u64>>,
    UseStateHandle<Option<CurrentRow<Item>>>,
) {
    let window = use_state_eq(|| FIRST_ROWS);
    let current = use_state_eq(|| None);
    {
        let current = current.setter();
        use_effect_with(shown, move |_| current.set(None));
    }
    (window, current)
}

/// What a row is about. One type for all tables, as each further one would be compiled anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Thread(ThreadId),
    TickyCounter(u64),
    /// Key of a band of a heap profile.
    Band(String),
    /// Number of a collection.
    Collection(u32),
    /// Stack of cost centres.
    Stack(u32),
    /// Name of a function.
    Function(String),
    /// Track and time of a mark in view.
    Mark(Option<TrackId>, Interval),
}

/// Current row of a table, as properties of its grid.
pub(super) struct Current {
    /// Number of the row.
    pub(super) row: Option<u64>,
    /// Item of the row, which stays current where its row is not loaded.
    pub(super) item: Option<Item>,
    pub(super) on_current: Callback<RowActivated>,
}

/// Keeps the current row with its item: in a log that grows, others take its place.
#[hook]
pub(super) fn use_current(
    current: &UseStateHandle<Option<CurrentRow<Item>>>,
    loaded: LoadedItems<Item>,
) -> Current {
    let loaded = Rc::new(loaded);
    let now = (**current).clone();
    {
        // A row that the keyboard went to may be loaded only now.
        let current = current.clone();
        use_effect_with((now.clone(), Rc::clone(&loaded)), move |(_, loaded)| {
            let newest = (*current).clone();
            current.set(newest.map(|newest| newest.with_item_of(loaded)));
        });
    }
    let row = now.as_ref().and_then(|now| now.row(&loaded));
    let item = now.and_then(|now| now.with_item_of(&loaded).into_item());
    let on_current = {
        let current = current.setter();
        Callback::from(move |activated: RowActivated| {
            current.set(Some(CurrentRow::new(activated.row, &loaded)));
        })
    };
    Current {
        row,
        item,
        on_current,
    }
}

/// Returns a callback for `on_current` of a grid that stores the row.
pub(super) fn current_callback(current: &UseStateHandle<Option<u64>>) -> Callback<RowActivated> {
    state_callback(current).reform(|activated: RowActivated| Some(activated.row))
}

#[derive(Properties, PartialEq)]
pub(super) struct GridProps {
    /// CSS class and id prefix of the table; also the storage name of its column arrangement.
    pub(super) name: &'static str,
    /// Accessible name of the table.
    pub(super) label: AttrValue,
    pub(super) columns: &'static [Column],
    /// Number of rows in total.
    pub(super) total: u64,
    pub(super) rows: Rc<Rows>,
    /// Totals of all rows, shown below the column titles.
    #[prop_or_default]
    pub(super) sums: Option<GridRow>,
    /// Sort column, and whether the order is descending.
    #[prop_or_default]
    pub(super) sort: Option<(usize, bool)>,
    #[prop_or_default]
    pub(super) on_sort: Callback<usize>,
    /// Called with the range of rows to supply.
    pub(super) on_window: Callback<Range<u64>>,
    #[prop_or_default]
    pub(super) current: Option<u64>,
    /// Selected rows, in addition to the current one.
    #[prop_or_default]
    pub(super) selected: Range<u64>,
    /// Called when the keyboard or a click moves to a row.
    #[prop_or_default]
    pub(super) on_current: Callback<RowActivated>,
    /// Called with a row on Enter or click.
    #[prop_or_default]
    pub(super) on_activate: Callback<u64>,
    /// For trees: called with a row and whether to expand (true) or collapse it.
    #[prop_or_default]
    pub(super) on_fold: Option<Callback<(u64, bool)>>,
    #[prop_or_default]
    pub(super) scroll_to: ScrollTo,
}

pub(super) enum Msg {
    Resized,
    Scrolled,
    ScrollEnded,
    Key(KeyboardEvent),
    Clicked(RowActivated),
    Arrange(Change),
}

/// Virtualized table component.
pub(super) struct Grid {
    arrangement: Rc<Arrangement>,
    /// Arrangement that the inline styles reflect.
    styled: Option<Rc<Arrangement>>,
    on_change: Callback<Change>,
    /// Table and column menu.
    container: NodeRef,
    scroller: NodeRef,
    spacer: NodeRef,
    /// Element that stays in view while the spacer scrolls.
    view: NodeRef,
    /// Container of the rows, shifted up by the hidden part of the first row.
    window: NodeRef,
    /// First row in view; fractional while that row is partly scrolled out.
    first: f64,
    /// Position of the scroll bar when `first` was set.
    scroll_px: f64,
    /// Height of the visible rows, in pixels.
    height: f64,
    requested: Range<u64>,
    /// Pending row moves of the keyboard and clicks.
    pending_rows: PendingValues<u64>,
    scroll_end: Option<Timeout>,
    listener: Option<EventListener>,
    observer: Option<Observer>,
}

impl Component for Grid {
    type Message = Msg;
    type Properties = GridProps;

    fn create(ctx: &Context<Self>) -> Self {
        Self {
            arrangement: columns::load_arrangement(ctx.props().name, ctx.props().columns),
            styled: None,
            on_change: ctx.link().callback(Msg::Arrange),
            container: NodeRef::default(),
            scroller: NodeRef::default(),
            spacer: NodeRef::default(),
            view: NodeRef::default(),
            window: NodeRef::default(),
            first: 0.0,
            scroll_px: 0.0,
            height: 0.0,
            requested: 0..0,
            pending_rows: PendingValues::default(),
            scroll_end: None,
            listener: None,
            observer: None,
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &GridProps) -> bool {
        let props = ctx.props();
        if (props.name, props.columns) != (old.name, old.columns) {
            self.arrangement = columns::load_arrangement(props.name, props.columns);
        }
        if props.scroll_to.serial != old.scroll_to.serial {
            self.reveal(props, props.scroll_to.row);
        }
        if props.current != old.current {
            match props.current {
                Some(row) => {
                    self.pending_rows.acknowledge(&row);
                }
                None => self.pending_rows.clear(),
            }
        }
        if props.sums.is_some() != old.sums.is_some() {
            self.measure(props);
        }
        if props.total != old.total {
            self.scroll_to_first(props, self.first);
        }
        self.request_rows(props);
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        let props = ctx.props();
        match msg {
            Msg::Resized => {
                if self.arrangement.is_narrow() != is_narrow() {
                    self.arrangement = columns::load_arrangement(props.name, props.columns);
                }
                let first_time = self.height == 0.0;
                self.measure(props);
                self.scroll_to_first(props, self.first);
                if first_time && props.scroll_to != ScrollTo::default() {
                    self.reveal(props, props.scroll_to.row);
                }
            }
            Msg::Scrolled => {
                if !self.scrolled(props) {
                    return false;
                }
                let link = ctx.link().clone();
                self.scroll_end = Some(Timeout::new(SCROLL_END_MS, move || {
                    link.send_message(Msg::ScrollEnded)
                }));
            }
            Msg::ScrollEnded => {
                self.scroll_end = None;
                self.place_scroll_bar(props);
                return false;
            }
            Msg::Key(event) => return self.key(props, &event),
            Msg::Arrange(change) => {
                self.arrangement = Rc::new(self.arrangement.changed(change));
                columns::store_arrangement(props.name, &self.arrangement);
                // Immediately: the next key reads the rendered width.
                self.lay_out();
            }
            Msg::Clicked(activated) => {
                self.move_current(props, activated);
                if !activated.extend {
                    props.on_activate.emit(activated.row);
                }
                return false;
            }
        }
        self.request_rows(props);
        true
    }

    fn rendered(&mut self, ctx: &Context<Self>, first_render: bool) {
        if first_render {
            self.listen(ctx);
        }
        self.lay_out();
        let height = self.spacer_px(ctx.props());
        let part = self.first.fract() * ROW_PX;
        for (node, property, value) in [
            (&self.spacer, "height", format!("{height}px")),
            (&self.view, "height", format!("{}px", self.height)),
            (&self.window, "transform", format!("translateY(-{part}px)")),
        ] {
            if let Some(element) = node.cast::<HtmlElement>() {
                set_style(&element, property, &value);
            }
        }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let props = ctx.props();
        let active = props.current.map(|row| row_id(props.name, row));
        let arrangement = &self.arrangement;
        let class = classes!(
            "grid",
            props.name,
            props.sums.is_some().then_some("with-sums"),
            (arrangement.fixed_count() > 1).then_some("two-stay"),
        );
        let role = match props.on_fold {
            Some(_) => "treegrid",
            None => "grid",
        };
        // Column indexes are required when some columns are hidden.
        let columns = is_partial(arrangement).then(|| props.columns.len().to_string());
        html! {
            <div class="grid-box" ref={self.container.clone()}>
                <ColumnsMenu arrangement={Rc::clone(arrangement)} on_change={self.on_change.clone()} />
                <div {class} ref={self.scroller.clone()} {role} tabindex="0"
                    aria-label={props.label.clone()} aria-rowcount={(props.total + 1).to_string()} aria-colcount={columns}
                    aria-activedescendant={active} onkeydown={ctx.link().callback(Msg::Key)}>
                    <Head name={props.name} arrangement={Rc::clone(arrangement)} sort={props.sort}
                        on_sort={props.on_sort.clone()} on_change={self.on_change.clone()} />
                    { for props.sums.as_ref().map(|sums| view_sums(arrangement, sums)) }
                    <div class="grid-spacer" role="presentation" ref={self.spacer.clone()}>
                        <div class="grid-view" role="presentation" ref={self.view.clone()}>
                            <div class="grid-window" role="rowgroup" ref={self.window.clone()}>
                                { for self.in_view(props).map(|row| self.view_row(ctx, row)) }
                            </div>
                        </div>
                    </div>
                </div>
            </div>
        }
    }
}

fn row_id(name: &str, row: u64) -> String {
    format!("{name}-row-{row}")
}

/// Returns whether some columns are hidden.
fn is_partial(arrangement: &Arrangement) -> bool {
    arrangement.count_shown() < arrangement.columns().len()
}

fn view_cells<'a>(
    arrangement: &'a Arrangement,
    row: &'a GridRow,
) -> impl Iterator<Item = Html> + 'a {
    let is_partial = is_partial(arrangement);
    arrangement.visible_columns().map(move |(place, column)| {
        let class = arrangement.columns()[column].number.then_some("right");
        let place = is_partial.then(|| place.to_string());
        let cell = row.cells.get(column).cloned();
        html! { <div role="gridcell" aria-colindex={place} class={classes!(class)}>{ cell.unwrap_or_default() }</div> }
    })
}

fn view_sums(arrangement: &Arrangement, sums: &GridRow) -> Html {
    html! {
        <div class={classes!("grid-sums", "grid-row", sums.class.clone())} role="row">
            { for view_cells(arrangement, sums) }
        </div>
    }
}

impl Grid {
    fn listen(&mut self, ctx: &Context<Self>) {
        let Some(scroller) = self.scroller.cast::<HtmlElement>() else {
            return;
        };
        let link = ctx.link().clone();
        self.listener = Some(EventListener::new(&scroller, "scroll", move |_| {
            link.send_message(Msg::Scrolled)
        }));
        let link = ctx.link().clone();
        let resized = move || link.send_message(Msg::Resized);
        resized();
        self.observer = Observer::new(&scroller, resized);
    }

    /// Applies the column widths of the arrangement to the styles.
    fn lay_out(&mut self) {
        if self.styled.as_ref() != Some(&self.arrangement)
            && let Some(scroller) = self.scroller.cast::<HtmlElement>()
        {
            columns::lay_out(&scroller, &self.arrangement);
            self.styled = Some(Rc::clone(&self.arrangement));
        }
    }

    fn key(&mut self, props: &GridProps, event: &KeyboardEvent) -> bool {
        if has_modifier(event) || props.total == 0 {
            return false;
        }
        let last = props.total - 1;
        let page = (self.fitting() as u64).saturating_sub(1).max(1);
        let current = self.current(props);
        let here = current.unwrap_or(self.first.ceil() as u64);
        let key = event.key();
        let row = match key.as_str() {
            "ArrowLeft" | "ArrowRight" => {
                if let (Some(on_fold), Some(row)) = (&props.on_fold, current) {
                    consume(event);
                    on_fold.emit((row, key == "ArrowRight"));
                }
                return false;
            }
            "ArrowDown" if current.is_none() => here,
            "ArrowDown" => here.saturating_add(1),
            "ArrowUp" => here.saturating_sub(1),
            "PageDown" => here.saturating_add(page),
            "PageUp" => here.saturating_sub(page),
            "Home" => 0,
            "End" => last,
            "Enter" => {
                // Enter on a column heading's button sorts.
                let grid = self.scroller.cast::<HtmlElement>();
                let on_grid = event.target() == grid.map(Into::into);
                if let Some(row) = current.filter(|_| on_grid) {
                    event.prevent_default();
                    props.on_activate.emit(row);
                }
                return false;
            }
            _ => return false,
        }
        .min(last);
        consume(event);
        self.reveal(props, row);
        let extend = event.shift_key();
        self.move_current(props, RowActivated { row, extend });
        self.request_rows(props);
        true
    }

    /// Returns the current row of the keyboard, even if the page has not rendered it yet.
    fn current(&self, props: &GridProps) -> Option<u64> {
        self.pending_rows.last().copied().or(props.current)
    }

    fn move_current(&mut self, props: &GridProps, activated: RowActivated) {
        if self.current(props) != Some(activated.row) {
            self.pending_rows.push(activated.row);
        }
        props.on_current.emit(activated);
    }

    fn view_row(&self, ctx: &Context<Self>, number: u64) -> Html {
        let props = ctx.props();
        let row = props.rows.get(number);
        let current = props.current == Some(number);
        let selected = current || props.selected.contains(&number);
        let onclick = ctx.link().callback(move |event: MouseEvent| {
            Msg::Clicked(RowActivated {
                row: number,
                extend: event.shift_key(),
            })
        });
        let class = classes!(
            "grid-row",
            (number % 2 == 1).then_some("odd"),
            selected.then_some("selected"),
            current.then_some("current"),
            row.map(|row| row.class.clone())
        );
        let cells = row.map(|row| view_cells(&self.arrangement, row));
        let branch = row.and_then(|row| row.branch);
        let of_branch = |say: fn(Branch) -> String| branch.map(say);
        html! {
            <div {class} role="row" id={row_id(props.name, number)} key={number.to_string()}
                aria-rowindex={(number + 2).to_string()} aria-selected={selected.to_string()}
                aria-level={of_branch(|branch| branch.level.to_string())}
                aria-posinset={of_branch(|branch| branch.place.0.to_string())}
                aria-setsize={of_branch(|branch| branch.place.1.to_string())}
                aria-expanded={branch.and_then(|branch| branch.open).map(|open| open.to_string())} {onclick}>
                if let Some(cells) = cells {
                    { for cells }
                } else {
                    <div role="gridcell" class="faint">{ "…" }</div>
                }
            </div>
        }
    }
}
