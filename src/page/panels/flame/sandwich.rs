//! The sandwich view: all functions in a table, and the callers and callees of one of them.

use analysis::flamegraph::sources;
use std::cmp::Ordering;
use std::rc::Rc;

use yew::prelude::*;

use super::canvas::{FlameCanvas, GraphFigures};
use super::pick::Pick;
use crate::client::LogClient;
use crate::export_rows::{ExportButtons, RowSource};
use crate::grid::{
    Column, Grid, GridRow, Item, LoadedItems, Rows, SortableColumns, sortable_columns, use_current,
};
use crate::panel::edited;
use analysis::flamegraph::source_info::SourceInfo;
use model::profile::source::Unit;
use model::profile::stack_source::CensusCounts;
use model::profile::weights::Measure;
use model::sorting::CompactSort;
use scene::format;
use session::cells::{self, Columns};
use session::flame::query::{FlameQuery, FlameRow, FlameTableQuery, View};
use views::actions::flame::FlameAction;
use views::columns::sorted_again;
use views::flame::Value;
use views::view::flame::FlameView;

#[derive(Properties, PartialEq)]
pub(super) struct SandwichProps {
    pub(super) client: LogClient,
    /// Query of the table and the graphs.
    pub(super) query: FlameQuery,
    pub(super) source: Rc<SourceInfo>,
    pub(super) view: FlameView,
    pub(super) color_generation: u32,
    /// Incremented whenever symbol names of addresses change.
    pub(super) names: u32,
    pub(super) on_view: Callback<FlameView>,
    pub(super) on_pick: Callback<Option<Pick>>,
    pub(super) on_act: Callback<(FlameAction, Pick)>,
    pub(super) on_figures: Callback<GraphFigures>,
}

/// Sort key of the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SortKey {
    Name,
    Own,
    Total,
    Count,
    Before,
}

const COLUMNS: SortableColumns<SortKey> = sortable_columns! {
    Column::text("function", "Function", 84,
        "Module and name of the function, or a placeholder").growing() => Some(SortKey::Name),
    Column::number("self", "Self", 114, "Weight where it is the innermost function") => Some(SortKey::Own),
    Column::number("total", "Total", 114,
        "Weight where it is anywhere in the stack; recursion counts once") => Some(SortKey::Total),
    Column::number("samples", "Samples", 60,
        "Samples, calls or spans with it anywhere in the stack") => Some(SortKey::Count),
};

const COMPARED: SortableColumns<SortKey> = sortable_columns! {
    COLUMNS.columns[0] => Some(SortKey::Name),
    COLUMNS.columns[1] => Some(SortKey::Own),
    COLUMNS.columns[2] => Some(SortKey::Total),
    Column::number("before", "Total before", 112, "Total on the side before") => Some(SortKey::Count),
    Column::number("change", "Change", 60,
        "Difference of the shares of the whole, in percentage points") => Some(SortKey::Before),
};

const COMPARED_AMOUNTS: SortableColumns<SortKey> = sortable_columns! {
    COLUMNS.columns[0] => Some(SortKey::Name),
    COLUMNS.columns[1] => Some(SortKey::Own),
    COLUMNS.columns[2] => Some(SortKey::Total),
    COMPARED.columns[3] => Some(SortKey::Count),
    Column::number("change", "Change", 60, "Gain or loss of the total") => Some(SortKey::Before),
};

/// Totals of all rows, and the unit of comparison.
#[derive(Clone, Copy)]
struct Shares {
    now: u64,
    before: u64,
    value: Value,
}

impl Shares {
    fn of(rows: &[FlameRow], value: Value) -> Self {
        let before = |row: &FlameRow| row.before.map_or(0, |(own, _)| own);
        Self {
            now: rows.iter().map(|row| row.own).sum(),
            before: rows.iter().map(before).sum(),
            value,
        }
    }

    /// Returns the change of a row: of its amount if amounts are compared, otherwise of its share.
    fn change(&self, row: &FlameRow) -> f64 {
        let before = row.before.map_or(0, |(_, total)| total);
        if self.value.compares_amounts() {
            return self.value.gained(before as f64, row.total as f64);
        }
        let share = |part: u64, whole: u64| part as f64 / (whole as f64).max(1.0);
        share(row.total, self.now) - share(before, self.before)
    }
}

fn compare(by: SortKey, a: &FlameRow, b: &FlameRow, shares: &Shares) -> Ordering {
    let before = |row: &FlameRow| row.before.map_or(0, |(_, total)| total);
    match by {
        SortKey::Name => a.frame.name().cmp(&b.frame.name()),
        SortKey::Own => a.own.cmp(&b.own),
        SortKey::Total => a.total.cmp(&b.total),
        SortKey::Count if a.before.is_some() => before(a).cmp(&before(b)),
        SortKey::Count => a.count.cmp(&b.count),
        SortKey::Before => shares.change(a).total_cmp(&shares.change(b)),
    }
}

/// Renders the table on one side, the graphs on the other.
#[component]
pub(super) fn Sandwich(props: &SandwichProps) -> Html {
    let (rows, censuses) = use_rows(props);
    let sort = use_state_eq(|| (SortKey::Own, true));
    let (by, descending) = *sort;
    let found = props.view.search.trim().to_lowercase();
    let unit = sources::description(props.source.source).unit;
    let value = Value {
        unit,
        measure: Measure::Amount,
        censuses,
        absolute: match &props.query.choice.other {
            Some(other) => !other.shares,
            None => unit == Unit::Bytes,
        },
    };
    let listed: Rc<Vec<FlameRow>> = use_memo(
        (Rc::clone(&rows), value, by, descending, found),
        |(rows, value, by, descending, found)| {
            let shares = Shares::of(rows, *value);
            let mut listed: Vec<FlameRow> = rows
                .iter()
                .filter(|row| row.frame.name().to_lowercase().contains(found.as_str()))
                .cloned()
                .collect();
            listed.sort_small_by(|a, b| {
                let order = compare(*by, a, b, &shares);
                let order = if *descending { order.reverse() } else { order };
                order.then_with(|| b.total.cmp(&a.total))
            });
            listed
        },
    );
    let out = use_memo((Rc::clone(&listed), censuses), |(listed, censuses)| {
        let rows = listed.iter().map(|row| row.with_means(*censuses));
        let rows: Vec<FlameRow> = rows.collect();
        RowSource::local(move |part, how| {
            let (from, to) = (part.start as usize, part.end as usize);
            let some = rows.get(from..to.min(rows.len())).unwrap_or_default();
            EXPORTED.text(some, how, from == 0)
        })
    });
    html! {
        <div class="sandwich">
            <div class="functions">
                <p class="tools"><ExportButtons name="functions" total={listed.len() as u64} rows={(*out).clone()} /></p>
                { table(props, (&rows, value), &listed, &sort) }
            </div>
            { graphs(props) }
        </div>
    }
}

/// Columns of the exported file. Values are in the unit of the source; those of heap profiles are means over the
/// censuses.
const EXPORTED: Columns<FlameRow, 9> = Columns([
    cells::Column::text("function", "Name of the function").value(|row| row.frame.name().into()),
    cells::Column::text("module", "Its module").value(|row| row.frame.module.as_str().into()),
    cells::Column::text("location", "Its place in the source")
        .value(|row| row.frame.location.as_deref().into()),
    cells::Column::number("self", "Weight where it is innermost").value(|row| row.own.into()),
    cells::Column::number("total", "Weight with its callees").value(|row| row.total.into()),
    cells::Column::number("self_samples", "Samples of self").value(|row| row.own_count.into()),
    cells::Column::number("samples", "Samples of total").value(|row| row.count.into()),
    cells::Column::number("self_before", "Self before")
        .value(|row| row.before.map(|it| it.0).into()),
    cells::Column::number("total_before", "Total before")
        .value(|row| row.before.map(|it| it.1).into()),
]);

/// Queries the rows and the number of censuses that they sum up, again whenever the query changes; only the latest
/// answer counts.
#[hook]
fn use_rows(props: &SandwichProps) -> (Rc<Vec<FlameRow>>, CensusCounts) {
    let state = use_state(|| (Rc::new(Vec::<FlameRow>::new()), CensusCounts::default()));
    let question = FlameTableQuery {
        choice: props.query.choice.clone(),
        steps: props.query.steps.clone(),
    };
    let (client, rows) = (props.client.clone(), state.setter());
    use_effect_with(
        (question, Rc::clone(&props.source), props.names),
        move |(question, ..)| {
            let asked = client.ask(question.clone(), move |answer| {
                if let Ok((answer, censuses)) = answer {
                    rows.set((Rc::new(answer), censuses));
                }
            });
            // The next query makes this one stale.
            move || asked.cancel()
        },
    );
    (*state).clone()
}

fn table(
    props: &SandwichProps,
    (all, value): (&[FlameRow], Value),
    listed: &[FlameRow],
    sort: &UseStateHandle<(SortKey, bool)>,
) -> Html {
    let compared = all.iter().any(|row| row.before.is_some());
    let columns = match compared {
        true if value.compares_amounts() => COMPARED_AMOUNTS,
        true => COMPARED,
        false => COLUMNS,
    };
    let shares = Shares::of(all, value);
    let row = |row: &FlameRow| view_row(row, &shares, compared);
    let on_sort = {
        let sort = sort.clone();
        Callback::from(move |column: usize| {
            if let Some(by) = columns.key(column) {
                sort.set(sorted_again(*sort, by, by != SortKey::Name));
            }
        })
    };
    let on_activate = {
        let names: Vec<String> = listed.iter().map(|row| row.frame.name()).collect();
        let on_frame = edited(&props.view, &props.on_view, |view, frame| {
            view.frame = frame
        });
        Callback::from(move |row: u64| {
            if let Some(frame) = names.get(row as usize) {
                on_frame.emit(frame.clone());
            }
        })
    };
    let current = listed
        .iter()
        .position(|row| row.frame.name() == props.view.frame);
    let column = columns.index_of(sort.0).unwrap_or(0);
    let rows = Rc::new(Rows {
        first: 0,
        rows: listed.iter().map(row).collect(),
    });
    let names = listed.iter().map(|row| Item::Function(row.frame.name()));
    let loaded = LoadedItems::new(0, names);
    html! {
        <CurrentGrid {rows} {loaded} total={listed.len() as u64} columns={columns.columns} sort={(column, sort.1)} {on_sort} {on_activate}
            at={current.map(|at| at as u64)} compared={compared} />
    }
}

#[derive(Properties, PartialEq)]
struct CurrentGridProps {
    rows: Rc<Rows>,
    /// Functions of the rows.
    loaded: LoadedItems<Item>,
    total: u64,
    columns: &'static [Column],
    sort: (usize, bool),
    on_sort: Callback<usize>,
    on_activate: Callback<u64>,
    /// Row of the selected function.
    at: Option<u64>,
    compared: bool,
}

/// Renders the table with a keyboard cursor.
#[component]
fn CurrentGrid(props: &CurrentGridProps) -> Html {
    let current = use_state_eq(|| None);
    {
        // Another order or selection starts anew.
        let current = current.setter();
        use_effect_with((props.at, props.sort), move |_| current.set(None));
    }
    let current = use_current(&current, props.loaded.clone());
    // The function may not be among those of another range or search.
    let at = current.row.filter(|row| *row < props.total);
    let name = if props.compared {
        "flame-rows-compared"
    } else {
        "flame-rows"
    };
    html! {
        <Grid {name} label="Functions" columns={props.columns} total={props.total} rows={Rc::clone(&props.rows)}
            sort={Some(props.sort)} on_sort={props.on_sort.clone()} on_window={Callback::noop()}
            current={at.or(props.at)} on_current={current.on_current} on_activate={props.on_activate.clone()} />
    }
}

fn view_row(row: &FlameRow, shares: &Shares, compared: bool) -> GridRow {
    let value = shares.value;
    let share = |part: u64| format::percent_short(part, shares.now.max(1));
    let amount = |part: u64| format!("{} {}", value.text(part as f64), share(part));
    let mut cells = vec![
        html! { <span title={row.frame.location.clone()}>{ row.frame.display_name() }</span> },
        html! { amount(row.own) },
        html! { amount(row.total) },
    ];
    if compared {
        let before = row.before.map_or(0, |(_, total)| total);
        let change = shares.change(row);
        let share = format::percent_short(before, shares.before.max(1));
        cells.push(html! { format!("{} {share}", value.text_before(before as f64)) });
        cells.push(match value.compares_amounts() {
            true => html! { value.signed(change) },
            false => html! { format!("{:+.1}", change * 100.0) },
        });
    } else {
        cells.push(html! { format::count(row.count) });
    }
    cells.into()
}

fn graphs(props: &SandwichProps) -> Html {
    let frame = &props.view.frame;
    if frame.is_empty() {
        return html! {
            <p class="empty">{ "Select a function in the table to see its callers and callees." }</p>
        };
    }
    let canvas = |view: View, label: String, upwards: bool, found: bool| {
        let query = FlameQuery {
            view,
            ..props.query.clone()
        };
        let on_figures = if found {
            props.on_figures.clone()
        } else {
            Callback::noop()
        };
        html! {
            <FlameCanvas client={props.client.clone()} {query} source={Rc::clone(&props.source)} {label} {upwards}
                minimap=false color_generation={props.color_generation} names={props.names} on_pick={props.on_pick.clone()} on_act={props.on_act.clone()} {on_figures} />
        }
    };
    html! {
        <div class="sandwich-graphs">
            <h3>{ "Callers of " }<span class="name">{ frame.clone() }</span></h3>
            { canvas(View::Callers(frame.clone()), format!("Callers of {frame}"), true, false) }
            <h3>{ "Callees of " }<span class="name">{ frame.clone() }</span></h3>
            { canvas(View::Callees(frame.clone()), format!("Callees of {frame}"), false, true) }
        </div>
    }
}
