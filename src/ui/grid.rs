//! A table of any number of rows. It holds and draws those in view only: the
//! panel that uses it is told which rows those are, and supplies them.

use std::ops::Range;
use std::rc::Rc;

use gloo_events::EventListener;
use gloo_timers::callback::Timeout;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::dom::set_style;
use super::timeline::Observer;

/// The height of a row in pixels; the style sheet says the same.
const ROW_PX: f64 = 24.0;
/// Browsers limit how high an element may be (Firefox: 17.8 million pixels).
/// Beyond this a pixel of the scroll bar stands for more than one.
const MAX_PX: f64 = 8_000_000.0;
/// After so long without scrolling the scroll bar is put in its true place.
const SETTLED_MS: u32 = 200;
/// How many rows beyond those in view are asked for, on each side.
const AROUND: u64 = 50;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// What stands above it.
    pub(super) title: &'static str,
    /// What it means, for newcomers.
    pub(super) help: &'static str,
    /// Whether it holds numbers, which stand on the right.
    pub(super) number: bool,
    /// Whether the rows can be sorted by it.
    pub(super) sortable: bool,
}

impl Column {
    /// A column of numbers by which the rows can be sorted.
    pub(super) const fn number(title: &'static str, help: &'static str) -> Self {
        Self {
            title,
            help,
            number: true,
            sortable: true,
        }
    }

    /// A column of texts by which the rows can be sorted.
    pub(super) const fn text(title: &'static str, help: &'static str) -> Self {
        Self {
            number: false,
            ..Self::number(title, help)
        }
    }

    /// The column, by which the rows cannot be sorted.
    pub(super) const fn unsorted(self) -> Self {
        Self {
            sortable: false,
            ..self
        }
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GridRow {
    pub(super) cells: Vec<Html>,
    pub(super) class: Classes,
    /// Where it stands, if the rows are a tree.
    pub(super) branch: Option<Branch>,
}

/// Where a row stands in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Branch {
    /// How deep, from 1.
    pub(super) level: u16,
    /// Whether what stands below it is shown; `None` if nothing does.
    pub(super) open: Option<bool>,
    /// Its place among its neighbours, from 1, and how many these are.
    pub(super) place: (u32, u32),
}

impl From<Vec<Html>> for GridRow {
    fn from(cells: Vec<Html>) -> Self {
        Self {
            cells,
            class: Classes::new(),
            branch: None,
        }
    }
}

impl<const N: usize> From<[String; N]> for GridRow {
    fn from(cells: [String; N]) -> Self {
        Vec::from(cells.map(Html::from)).into()
    }
}

/// Rows that are at hand.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rows {
    /// The number of the first one.
    pub(super) first: u64,
    pub(super) rows: Vec<GridRow>,
}

impl Rows {
    fn get(&self, number: u64) -> Option<&GridRow> {
        let at = number.checked_sub(self.first)?;
        self.rows.get(usize::try_from(at).ok()?)
    }
}

/// The keyboard or a click went to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Went {
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
    /// A class, by which the style sheet knows how wide the columns are; also the id.
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
    pub(super) on_current: Callback<Went>,
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
    Clicked(Went),
}

/// The table.
pub(super) struct Grid {
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
    settle: Option<Timeout>,
    listener: Option<EventListener>,
    observer: Option<Observer>,
}

impl Component for Grid {
    type Message = Msg;
    type Properties = GridProps;

    fn create(_: &Context<Self>) -> Self {
        Self {
            scroller: NodeRef::default(),
            spacer: NodeRef::default(),
            view: NodeRef::default(),
            window: NodeRef::default(),
            first: 0.0,
            scroll_px: 0.0,
            height: 0.0,
            wanted: 0..0,
            settle: None,
            listener: None,
            observer: None,
        }
    }

    fn changed(&mut self, ctx: &Context<Self>, old: &GridProps) -> bool {
        let props = ctx.props();
        if props.scroll_to.serial != old.scroll_to.serial {
            self.reveal(props, props.scroll_to.row);
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
            Msg::Clicked(went) => {
                props.on_current.emit(went);
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
        html! {
            <div class={classes!("grid", props.name, props.sums.is_some().then_some("with-sums"))} ref={self.scroller.clone()} role={if props.on_fold.is_some() { "treegrid" } else { "grid" }} tabindex="0"
                aria-label={props.label.clone()} aria-rowcount={(props.total + 1).to_string()}
                aria-activedescendant={active} onkeydown={ctx.link().callback(Msg::Key)}>
                { head(props) }
                { for props.sums.as_ref().map(|sums| view_sums(props, sums)) }
                <div class="grid-spacer" role="presentation" ref={self.spacer.clone()}>
                    <div class="grid-view" role="presentation" ref={self.view.clone()}>
                        <div class="grid-window" role="rowgroup" ref={self.window.clone()}>
                            { for self.in_view(props).map(|row| self.view_row(ctx, row)) }
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

fn head(props: &GridProps) -> Html {
    let cell = |(number, column): (usize, &Column)| {
        let sorted = props.sort.filter(|(by, _)| *by == number);
        let (word, arrow) = match sorted {
            Some((_, true)) => (Some("descending"), " ↓"),
            Some((_, false)) => (Some("ascending"), " ↑"),
            None => (column.sortable.then_some("none"), ""),
        };
        let text = html! { <>{ column.title }<span aria-hidden="true">{ arrow }</span></> };
        let onclick = props.on_sort.reform(move |_: MouseEvent| number);
        html! {
            <div role="columnheader" aria-sort={word} title={column.help} class={classes!(column.number.then_some("right"))}>
                if column.sortable {
                    <button class="quiet" data-help={column.help} {onclick}>{ text }</button>
                } else {
                    <span data-help={column.help} tabindex="0">{ text }</span>
                }
            </div>
        }
    };
    html! {
        <div class="grid-head grid-row" role="row" aria-rowindex="1">
            { for props.columns.iter().enumerate().map(cell) }
        </div>
    }
}

fn view_cells<'a>(props: &'a GridProps, row: &'a GridRow) -> impl Iterator<Item = Html> + 'a {
    props.columns.iter().zip(&row.cells).map(|(column, cell)| {
        let class = column.number.then_some("right");
        html! { <div role="gridcell" class={classes!(class)}>{ cell.clone() }</div> }
    })
}

fn view_sums(props: &GridProps, sums: &GridRow) -> Html {
    html! {
        <div class={classes!("grid-sums", "grid-row", sums.class.clone())} role="row">
            { for view_cells(props, sums) }
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

    /// Looks how much room the rows have below the head.
    fn measure(&mut self, props: &GridProps) {
        let head = if props.sums.is_some() { 2.0 } else { 1.0 } * ROW_PX;
        if let Some(scroller) = self.scroller.cast::<HtmlElement>() {
            self.height = (f64::from(scroller.client_height()) - head).max(0.0);
        }
    }

    /// How many rows fit, counting those that fit in part.
    fn fitting(&self) -> f64 {
        self.height / ROW_PX
    }

    /// The last `first` that leaves no empty place below.
    fn last_first(&self, props: &GridProps) -> f64 {
        (props.total as f64 - self.fitting()).max(0.0)
    }

    fn spacer_px(&self, props: &GridProps) -> f64 {
        (props.total as f64 * ROW_PX).clamp(self.height, MAX_PX.max(self.height))
    }

    /// How far the scroll bar goes.
    fn scroll_range_px(&self, props: &GridProps) -> f64 {
        (self.spacer_px(props) - self.height).max(0.0)
    }

    /// Whether a pixel of the scroll bar is a pixel of the rows.
    fn is_exact(&self, props: &GridProps) -> bool {
        props.total as f64 * ROW_PX <= MAX_PX
    }

    fn in_view(&self, props: &GridProps) -> Range<u64> {
        let first = self.first as u64;
        let end = (self.first + self.fitting()).ceil() as u64 + 1;
        first.min(props.total)..end.min(props.total)
    }

    /// Says which rows are wanted, if those in view or near are others now.
    fn tell(&mut self, props: &GridProps) {
        let view = self.in_view(props);
        let near = view.start.saturating_sub(AROUND / 2)..(view.end + AROUND / 2).min(props.total);
        let covered = self.wanted.start <= near.start && near.end <= self.wanted.end;
        if !covered || self.wanted.end > props.total {
            self.wanted = view.start.saturating_sub(AROUND)..(view.end + AROUND).min(props.total);
            props.on_window.emit(self.wanted.clone());
        }
    }

    /// The user has scrolled. A small step moves the rows by as much, a large
    /// one (a drag of the scroll bar) goes to that part of the rows.
    fn scrolled(&mut self, props: &GridProps) -> bool {
        let Some(scroller) = self.scroller.cast::<HtmlElement>() else {
            return false;
        };
        let now = f64::from(scroller.scroll_top());
        let step = now - self.scroll_px;
        if step == 0.0 {
            return false;
        }
        self.scroll_px = now;
        let range = self.scroll_range_px(props).max(1.0);
        self.first = if self.is_exact(props) {
            now / ROW_PX
        } else if step.abs() < 2.0 * self.height {
            self.first + step / ROW_PX
        } else {
            now / range * self.last_first(props)
        };
        self.first = self.first.clamp(0.0, self.last_first(props));
        true
    }

    /// Puts the scroll bar where the first row says.
    fn place_scroll_bar(&mut self, props: &GridProps) {
        let Some(scroller) = self.scroller.cast::<HtmlElement>() else {
            return;
        };
        let px = if self.is_exact(props) {
            self.first * ROW_PX
        } else {
            self.first / self.last_first(props).max(1.0) * self.scroll_range_px(props)
        };
        scroller.set_scroll_top(px.round() as i32);
        self.scroll_px = f64::from(scroller.scroll_top());
    }

    /// Goes to a first row.
    fn go(&mut self, props: &GridProps, first: f64) {
        self.first = first.clamp(0.0, self.last_first(props));
        if let Some(spacer) = self.spacer.cast::<HtmlElement>() {
            // The bar's range must be known before the bar can be placed.
            set_style(&spacer, "height", &format!("{}px", self.spacer_px(props)));
        }
        self.place_scroll_bar(props);
    }

    /// Brings a row into view: to the middle, if it was far away.
    fn reveal(&mut self, props: &GridProps, row: u64) {
        let row = row as f64;
        let fitting = self.fitting();
        if row < self.first - fitting || row > self.first + 2.0 * fitting {
            self.go(props, row - fitting / 2.0);
        } else if row < self.first {
            self.go(props, row);
        } else if row > self.first + fitting - 1.0 {
            self.go(props, row - fitting + 1.0);
        }
    }

    fn key(&mut self, props: &GridProps, event: &KeyboardEvent) -> bool {
        if event.ctrl_key() || event.meta_key() || event.alt_key() || props.total == 0 {
            return false;
        }
        let last = props.total - 1;
        let page = (self.fitting() as u64).saturating_sub(1).max(1);
        let here = props.current.unwrap_or(self.first.ceil() as u64);
        let key = event.key();
        let row = match key.as_str() {
            "ArrowLeft" | "ArrowRight" => {
                if let (Some(on_fold), Some(row)) = (&props.on_fold, props.current) {
                    event.prevent_default();
                    event.stop_propagation();
                    on_fold.emit((row, key == "ArrowRight"));
                }
                return false;
            }
            "ArrowDown" if props.current.is_none() => here,
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
                if let Some(row) = props.current.filter(|_| on_grid) {
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
        props.on_current.emit(Went {
            row,
            extend: event.shift_key(),
        });
        self.tell(props);
        true
    }

    fn view_row(&self, ctx: &Context<Self>, number: u64) -> Html {
        let props = ctx.props();
        let row = props.rows.get(number);
        let current = props.current == Some(number);
        let selected = current || props.selected.contains(&number);
        let onclick = ctx.link().callback(move |event: MouseEvent| {
            Msg::Clicked(Went {
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
        let cells = row.map(|row| view_cells(props, row));
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
