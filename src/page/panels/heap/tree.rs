//! The tree tab of a `-hc` profile: what each cost centre holds by itself and including its callees, in the selected
//! range or the whole log.

use std::rc::Rc;

use yew::prelude::*;

use crate::dom::state_callback;
use crate::export_rows::{ExportButtons, RowSource, use_table_rows};
use crate::grid::{
    Branch, Column, FIRST_ROWS, Grid, GridRow, Item, LoadedItems, RowActivated, Rows, ScrollTo,
    SortableColumns, sortable_columns, use_current,
};
use crate::guide::how_to_record;
use crate::panel::{PanelProps, span_text, use_answer};
use crate::share_bar::share_bar;
use analysis::flamegraph::sources;
use scene::format;
use session::flame::transform::Transform;
use session::heap::tree::{ExpandedNodes, NodeBytes, TreeAnswer, TreeColumn, TreeQuery, TreeRow};
use session::tables::TableQuery;
use views::columns::sorted_again;
use views::heap::settings::HeapView;
use views::panels::FLAME_GRAPH;
use views::view::Change;
use views::view::flame::{FlameOrder, FlameView};

const COLUMNS: SortableColumns<TreeColumn> = sortable_columns! {
    Column::text("cost-centre", "Cost centre", 180,
        "Cost centre that allocated it. Arrow keys expand and collapse its callees").growing().narrow_px(140) => Some(TreeColumn::Name),
    Column::text("share", "Share", 120, "Share of all bytes: total, and self within it").unsorted() => None,
    Column::number("total", "Total", 132,
        "Total bytes, including callees: mean of the censuses") => Some(TreeColumn::Total),
    Column::number("own", "Self", 132, "Self bytes: mean of the censuses") => Some(TreeColumn::Own),
    Column::number("last-total", "Last total", 132,
        "Total bytes, including callees, in the last census") => Some(TreeColumn::LastTotal),
    Column::number("last-own", "Last self", 132,
        "Self bytes in the last census") => Some(TreeColumn::LastOwn),
};

/// Maximum indentation level; deeper rows are not indented further.
const DEEPEST: u16 = 24;

#[component]
pub(super) fn Tree(props: &PanelProps) -> Html {
    let (view, _) = props.settings::<HeapView>();
    let window = use_state(|| FIRST_ROWS);
    let open = use_state_eq(|| None::<ExpandedNodes>);
    let sort = use_state_eq(|| (TreeColumn::default(), true));
    let current = use_state_eq(|| None);
    let query = TreeQuery {
        profile: view.choice.profile,
        range: props.range,
        filter: view.choice.filter.clone(),
        sort: sort.0,
        descending: sort.1,
        open: (*open).clone(),
        rows: (*window).clone(),
    };
    let answer = use_answer(&props.source, query.clone());
    let tree = answer.as_deref().and_then(Option::as_ref);
    let loaded = tree.map_or_else(LoadedItems::none, |tree| {
        let stacks = tree.rows.iter().map(|row| Item::Stack(row.stack));
        LoadedItems::new(tree.first, stacks)
    });
    let current = use_current(&current, loaded);
    // The export has all expanded rows, not just the visible ones.
    let out = use_table_rows(&props.source.client, query.with_rows(FIRST_ROWS));
    let Some(answer) = answer.filter(|_| props.source.complete) else {
        return html! { <p class="empty">{ "The tree appears once the log is read." }</p> };
    };
    let Some(tree) = (*answer).as_ref() else {
        return html! { <div class="empty"><p>{ "This profile has no tree: trees need a profile by cost-centre stack (+RTS -hc, in a program built with -prof)." }</p>{ how_to_record("record-heap") }</div> };
    };
    let on_current = current.on_current;
    let on_fold = {
        let (answer, open, on_current) = (Rc::clone(&answer), open.setter(), on_current.clone());
        Callback::from(move |(number, opens): (u64, bool)| {
            let Some(tree) = answer.as_ref() else { return };
            let Some(row) = row_at(tree, number) else {
                return;
            };
            match row.open {
                Some(is_open) if is_open != opens => open.set(Some(folded(tree, row, opens))),
                // Collapsing a collapsed row goes to its parent.
                _ if !opens => on_current.emit(RowActivated {
                    row: row.parent.unwrap_or(number),
                    extend: false,
                }),
                _ => {}
            }
        })
    };
    let on_activate = {
        let (answer, on_fold) = (Rc::clone(&answer), on_fold.clone());
        Callback::from(move |number: u64| {
            let row = answer
                .as_ref()
                .as_ref()
                .and_then(|tree| row_at(tree, number));
            if let Some(is_open) = row.and_then(|row| row.open) {
                on_fold.emit((number, !is_open));
            }
        })
    };
    let on_sort = {
        let sort = sort.clone();
        Callback::from(move |column: usize| {
            if let Some(by) = COLUMNS.key(column) {
                sort.set(sorted_again(*sort, by, by != TreeColumn::Name));
            }
        })
    };
    let sorted = COLUMNS.index_of(sort.0);
    let stack = match current.item {
        Some(Item::Stack(stack)) => Some(stack),
        _ => None,
    };
    let chosen = stack.and_then(|stack| tree.rows.iter().find(|row| row.stack == stack));
    // The same cost centre may not be among those of another range or filter.
    let at = current.row.filter(|row| *row < tree.total);
    let rows = Rc::new(Rows {
        first: tree.first,
        rows: tree
            .rows
            .iter()
            .map(|row| grid_row(row, &tree.all))
            .collect(),
    });
    html! {
        <div class="heap-tree">
            { head(props, tree, &open.setter(), chosen, out) }
            if tree.total == 0 {
                <p class="empty">{ why_empty(props, &view) }</p>
            } else {
                <Grid name="heap-tree-rows" label="Cost centres" columns={COLUMNS.columns} total={tree.total} {rows}
                    sums={sums(&tree.all)} sort={sorted.map(|column| (column, sort.1))} {on_sort}
                    on_window={state_callback(&window)} current={at} {on_current} {on_activate} {on_fold}
                    scroll_to={ScrollTo { serial: stack.map_or(0, |stack| stack.wrapping_add(1)), row: at.unwrap_or(0) }} />
            }
        </div>
    }
}

fn row_at(tree: &TreeAnswer, row: u64) -> Option<&TreeRow> {
    let place = usize::try_from(row.checked_sub(tree.first)?).ok()?;
    tree.rows.get(place)
}

/// Returns the expanded rows after one is expanded or collapsed.
fn folded(tree: &TreeAnswer, row: &TreeRow, opens: bool) -> ExpandedNodes {
    let mut open = tree.open.clone();
    open.retain(|stack| *stack != row.stack);
    if opens {
        open.push(row.stack);
    }
    ExpandedNodes::These(open)
}

fn why_empty(props: &PanelProps, view: &HeapView) -> &'static str {
    match (view.choice.filter.trim().is_empty(), props.range) {
        (false, _) => "No matching cost centre. Clear the filter to see all.",
        (true, Some(_)) => {
            "No census in the selected range, or no bytes in its censuses: clear it (Esc) to see the whole log."
        }
        (true, None) => "No bytes in any census.",
    }
}

/// Renders the range of the numbers, and the actions on the tree.
fn head(
    props: &PanelProps,
    tree: &TreeAnswer,
    open: &UseStateSetter<Option<ExpandedNodes>>,
    chosen: Option<&TreeRow>,
    rows: RowSource,
) -> Html {
    let set = |to: Option<ExpandedNodes>| {
        let open = open.clone();
        Callback::from(move |_: MouseEvent| open.set(to.clone()))
    };
    let in_graph = chosen.map(|row| row.frame.name());
    let disabled = in_graph.is_none();
    let onclick = props.on_change.reform(move |_: MouseEvent| {
        let steps: Vec<Transform> = in_graph.clone().map(Transform::Focus).into_iter().collect();
        Change::new(move |view, _| {
            let flame = FlameView {
                source: Some(sources::HEAP),
                order: FlameOrder::LeftHeavy,
                steps,
                ..FlameView::default()
            };
            view.with_panel(FLAME_GRAPH).with_settings(flame)
        })
    });
    let censuses = format::pluralize(tree.censuses.into(), "census");
    let of = match props.range.filter(|_| tree.timed) {
        Some(range) => format!("{censuses} in {}", span_text(range)),
        None if tree.timed => format!("{censuses} of the whole log"),
        None => {
            format!("all {censuses}: they have no times, so ranges do not apply")
        }
    };
    html! {
        <div class="controls">
            <button class="small" onclick={set(Some(ExpandedNodes::All))}>{ "Expand all" }</button>
            <button class="small" onclick={set(Some(ExpandedNodes::These(Vec::new())))}>{ "Collapse all" }</button>
            <button class="small" onclick={set(None)} title="Expand the path to the most bytes">{ "Heaviest" }</button>
            <button class="small" {disabled} {onclick} title="Show all occurrences of the selected cost centre in the flame graph of the heap">{ "In the flame graph" }</button>
            <span class="for">{ of }</span>
            <ExportButtons name="cost-centres" total={tree.total} {rows} />
        </div>
    }
}

/// Renders a size with its share: `1 MiB 12 %`.
fn with_share(bytes: f64, all: f64) -> Html {
    let share = format::percent_short(bytes as u64, (all as u64).max(1));
    html! { <>{ format::bytes(bytes as u64) }<span class="tree-share">{ share }</span></> }
}

fn numbers(bytes: &NodeBytes, all: &NodeBytes) -> [Html; 4] {
    let last = all.last_total as f64;
    [
        with_share(bytes.total, all.total),
        with_share(bytes.own, all.total),
        with_share(bytes.last_total as f64, last),
        with_share(bytes.last_own as f64, last),
    ]
}

fn bar(bytes: &NodeBytes, all: &NodeBytes) -> Html {
    let (own, total) = (bytes.own as u64, bytes.total as u64);
    let parts = [
        ("heap-own", own),
        ("heap-inherited", total.saturating_sub(own)),
    ];
    share_bar((all.total as u64).max(1), parts)
}

fn grid_row(row: &TreeRow, all: &NodeBytes) -> GridRow {
    let sign = match row.open {
        Some(true) => "▾",
        Some(false) => "▸",
        None => "",
    };
    let indent = (1..row.level.min(DEEPEST)).map(|_| html! { <span class="tree-indent" /> });
    let place = row.frame.location.clone();
    let name = html! {
        <span class="tree-name" title={place}>{ for indent }<span class="tree-sign" aria-hidden="true">{ sign }</span>{ row.frame.display_name() }</span>
    };
    let head = [name, bar(&row.bytes, all)];
    GridRow {
        cells: head.into_iter().chain(numbers(&row.bytes, all)).collect(),
        class: Classes::new(),
        branch: Some(Branch {
            level: row.level,
            open: row.open,
            place: row.place,
        }),
    }
}

fn sums(all: &NodeBytes) -> GridRow {
    let head = ["All live data".into(), bar(all, all)];
    let cells: Vec<Html> = head.into_iter().chain(numbers(all, all)).collect();
    cells.into()
}
