//! A table of any number of rows. It holds and draws those in view only: the
//! panel that uses it is told which rows those are, and supplies them. Its reader arranges the
//! columns; panels know them by their places as they are at first.

mod columns;
mod head;
mod rows;
mod scroll;

use std::ops::Range;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::ahead::Ahead;
use super::dom::set_style;
use super::timeline::Observer;
use columns::{ColumnsMenu, is_narrow};
use head::Head;
pub(super) use rows::{Branch, GridRow, Rows};
use scroll::ROW_PX;
pub(super) use views::columns::Column;
use views::columns::{Arrangement, Change};

/// After so long without scrolling the scroll bar is put in its true place.
const SETTLED_MS: u32 = 200;

/// The keyboard or a click went to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowActivated {
    pub(super) row: u64,
    /// Whether the rows up to there are selected (Shift).
    pub(super) extend: bool,
}

/// A row to scroll to; each new `serial` scrolls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ScrollTo {
    pub(super) serial: u32,
    pub(super) row: u64,
}

#[derive(Properties, PartialEq)]
pub(super) struct GridProps {
    /// A class, and the id; under this name the browser keeps how the columns are arranged.
    pub(super) name: &'static str,
    /// What the table is, for screen readers.
    pub(super) label: AttrValue,
    pub(super) columns: &'static [Column],
    /// How many rows there are.
    pub(super) total: u64,
    pub(super) rows: Rc<Rows>,
    /// What all rows sum up to; it stands below the titles.
    #[prop_or_default]
    pub(super) sums: Option<GridRow>,
    /// The column that the rows are sorted by, and whether the largest comes first.
    #[prop_or_default]
    pub(super) sort: Option<(usize, bool)>,
    #[prop_or_default]
    pub(super) on_sort: Callback<usize>,
    /// Hears which rows are wanted.
    pub(super) on_window: Callback<Range<u64>>,
    #[prop_or_default]
    pub(super) current: Option<u64>,
    /// Rows that are selected beside the current one.
    #[prop_or_default]
    pub(super) selected: Range<u64>,
    /// Hears to which row the keyboard or a click went.
    #[prop_or_default]
    pub(super) on_current: Callback<RowActivated>,
    /// Hears of Enter and of a click on a row.
    #[prop_or_default]
    pub(super) on_activate: Callback<u64>,
    /// If the rows are a tree: hears that a row is to be opened, or closed.
    #[prop_or_default]
    pub(super) on_fold: Option<Callback<(u64, bool)>>,
    #[prop_or_default]
    pub(super) scroll_to: ScrollTo,
}

pub(super) enum Msg {
    Resized,
    Scrolled,
    Settled,
    Key(KeyboardEvent),
    Clicked(RowActivated),
    Arrange(Change),
}

/// The table.
pub(super) struct Grid {
    arrangement: Rc<Arrangement>,
    /// The one that the styles say.
    styled: Option<Rc<Arrangement>>,
    on_change: Callback<Change>,
    /// The table with what stands over it.
    around: NodeRef,
    scroller: NodeRef,
    spacer: NodeRef,
    /// What stays in view while the spacer scrolls.
    view: NodeRef,
    /// The rows, moved up by the part of the first one that is out of view.
    window: NodeRef,
    /// The first row in view; not whole while a row is half out of view.
    first: f64,
    /// Where the scroll bar was when `first` was set.
    scroll_px: f64,
    /// The height of what is in view.
    height: f64,
    wanted: Range<u64>,
    /// Where the keyboard or a click went.
    went: Ahead<u64>,
    settle: Option<Timeout>,
    listener: Option<EventListener>,
    observer: Option<Observer>,
}

impl Component for Grid {
    type Message = Msg;
    type Properties = GridProps;

    fn create(ctx: &Context<Self>) -> Self {
        Self {
            arrangement: columns::kept_as(ctx.props().name, ctx.props().columns),
            styled: None,
            on_change: ctx.link().callback(Msg::Arrange),
            around: NodeRef::default(),
            scroller: NodeRef::default(),
            spacer: NodeRef::default(),
            view: NodeRef::default(),
            window: NodeRef::default(),
            first: 0.0,
            scroll_px: 0.0,
            height: 0.0,
            wanted: 0..0,
            went: Ahead::default(),
            settle: None,
            listener: None,
            observer: None,
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &GridProps) -> bool {
        let props = ctx.props();
        if (props.name, props.columns) != (old.name, old.columns) {
            self.arrangement = columns::kept_as(props.name, props.columns);
        }
        if props.scroll_to.serial != old.scroll_to.serial {
            self.reveal(props, props.scroll_to.row);
        }
        if props.current != old.current {
            match props.current {
                Some(row) => {
                    self.went.comes_back(&row);
                }
                None => self.went.clear(),
            }
        }
        if props.sums.is_some() != old.sums.is_some() {
            self.measure(props);
        }
        if props.total != old.total {
            self.go(props, self.first);
        }
        self.tell(props);
        true
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        let props = ctx.props();
        match msg {
            Msg::Resized => {
                if self.arrangement.is_narrow() != is_narrow() {
                    self.arrangement = columns::kept_as(props.name, props.columns);
                }
                let first_time = self.height == 0.0;
                self.measure(props);
                self.go(props, self.first);
                if first_time && props.scroll_to != ScrollTo::default() {
                    self.reveal(props, props.scroll_to.row);
                }
            }
            Msg::Scrolled => {
                if !self.scrolled(props) {
                    return false;
                }
                let link = ctx.link().clone();
                self.settle = Some(Timeout::new(SETTLED_MS, move || {
                    link.send_message(Msg::Settled)
                }));
            }
            Msg::Settled => {
                self.settle = None;
                self.place_scroll_bar(props);
                return false;
            }
            Msg::Key(event) => return self.key(props, &event),
            Msg::Arrange(change) => {
                self.arrangement = Rc::new(self.arrangement.changed(change));
                columns::keep_as(props.name, &self.arrangement);
                // At once: the next key makes the column wider than it is then.
                self.lay_out();
            }
            Msg::Clicked(went) => {
                self.go_to(props, went);
                if !went.extend {
                    props.on_activate.emit(went.row);
                }
                return false;
            }
        }
        self.tell(props);
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
            (arrangement.staying() > 1).then_some("two-stay"),
        );
        let role = match props.on_fold {
            Some(_) => "treegrid",
            None => "grid",
        };
        // Unless all columns are there, each says which one it is.
        let columns = is_partial(arrangement).then(|| props.columns.len().to_string());
        html! {
            <div class="grid-box" ref={self.around.clone()}>
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

/// Whether some columns are hidden.
fn is_partial(arrangement: &Arrangement) -> bool {
    arrangement.count_shown() < arrangement.columns().len()
}

fn view_cells<'a>(
    arrangement: &'a Arrangement,
    row: &'a GridRow,
) -> impl Iterator<Item = Html> + 'a {
    let is_partial = is_partial(arrangement);
    arrangement.shown().map(move |(place, column)| {
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

    /// Gives the columns the widths that they are arranged to have.
    fn lay_out(&mut self) {
        if self.styled.as_ref() != Some(&self.arrangement)
            && let Some(scroller) = self.scroller.cast::<HtmlElement>()
        {
            columns::lay_out(&scroller, &self.arrangement);
            self.styled = Some(Rc::clone(&self.arrangement));
        }
    }

    fn key(&mut self, props: &GridProps, event: &KeyboardEvent) -> bool {
        if event.ctrl_key() || event.meta_key() || event.alt_key() || props.total == 0 {
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
                    event.prevent_default();
                    event.stop_propagation();
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
                // Enter on a column's button sorts.
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
        event.prevent_default();
        event.stop_propagation();
        self.reveal(props, row);
        let extend = event.shift_key();
        self.go_to(props, RowActivated { row, extend });
        self.tell(props);
        true
    }

    /// The row that the keyboard is on, whether or not the page has rendered it.
    fn current(&self, props: &GridProps) -> Option<u64> {
        self.went.last().copied().or(props.current)
    }

    fn go_to(&mut self, props: &GridProps, went: RowActivated) {
        if self.current(props) != Some(went.row) {
            self.went.push(went.row);
        }
        props.on_current.emit(went);
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
