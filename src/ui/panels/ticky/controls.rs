//! The controls above the table of ticky counters: filter, order, files.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

use crate::ui::client::LogClient;
use crate::ui::copy::copy;
use crate::ui::dom::{use_pause, value_of};
use crate::ui::panel::span_text;
use crate::ui::save::save;
use crate::ui::term::Term;
use analysis::ticky::{TickyQuery, TickyTable};
use model::time::Interval;
use views::scene::format;
use views::session::questions::TickyTextQuery;
use views::ticky_export::Separated;
use views::view::ticky::TickyView;

/// Typing is followed when it has settled.
const TYPED_MS: u32 = 150;
/// So many rows of a file are asked for at once: the worker answers other
/// questions in between.
const FILE_ROWS: u64 = 20_000;

const FILTER_HELP: &str = "Words are looked for in names, modules and places, and a counter has to have all of them; one with spaces stands in \"quotes\". A word can be about one column: kind:thunk, module:Data.Map, args:L, fvs:>; with = it is all of it, module=Main. Numbers have bounds: entries>1000, allocs>=2M, allocs-per-entry>100, entries-per-allocd<1, and so for allocd and allocd-count.";

#[derive(Properties, PartialEq)]
pub(super) struct ControlsProps {
    pub(super) view: TickyView,
    pub(super) on_view: Callback<TickyView>,
    pub(super) range: Option<Interval>,
    pub(super) query: TickyQuery,
    pub(super) table: Option<Rc<TickyTable>>,
    /// Whether the log is read to its end.
    pub(super) complete: bool,
    pub(super) client: LogClient,
}

/// The controls.
#[component]
pub(super) fn Controls(props: &ControlsProps) -> Html {
    let said = use_state(|| None::<String>);
    {
        // What was done before is no news once other rows are shown.
        let said = said.setter();
        let shown = (props.query.range, props.view.clone());
        use_effect_with(shown, move |_| said.set(None));
    }
    let total = props.table.as_ref().map_or(0, |table| table.total);
    let job = |to: To| {
        let (client, query, said) = (props.client.clone(), props.query.clone(), said.setter());
        Callback::from(move |_: MouseEvent| {
            said.set(Some("The rows are being written…".to_owned()));
            let said = said.clone();
            let done = Callback::from(move |text: String| said.set(Some(text)));
            Job {
                to,
                client: client.clone(),
                query: query.clone(),
                total,
                texts: Array::new(),
                done,
            }
            .go_on();
        })
    };
    let status = props.table.as_deref().map(|table| status(props, table));
    let none = total == 0;
    html! {
        <div class="controls">
            <Filter view={props.view.clone()} on_view={props.on_view.clone()} />
            <span class="for" role="status">{ (*said).clone().or(status) }</span>
            <button onclick={job(To::Clipboard)} disabled={none}
                title="Copy these rows, in this order, with tabs between the cells: for a spreadsheet">{ "Copy" }</button>
            <button onclick={job(To::File(Separated::ByTabs))} disabled={none}
                title="Save these rows, in this order, with tabs between the cells: sizes in bytes">{ "Save TSV" }</button>
            <button onclick={job(To::File(Separated::ByCommas))} disabled={none}
                title="Save these rows, in this order, as a file for a spreadsheet: sizes in bytes">{ "Save CSV" }</button>
        </div>
    }
}

/// What the rows are and how much of the program they account for.
fn status(props: &ControlsProps, table: &TickyTable) -> String {
    let of = match props.range {
        Some(range) => format!("in the selected range, {}", span_text(range)),
        None if props.complete => "in the whole log".to_owned(),
        None => "as far as the log is read".to_owned(),
    };
    let mut text = format!("{} {of}", format::many(table.total, "counter"));
    if table.samples > 0 {
        text.push_str(&format!(", {}", format::many(table.samples, "sample")));
    }
    if let Some(all) = table.allocated_bytes.filter(|all| *all > 0) {
        let share = format::percent(table.all.allocs_bytes, all);
        text.push_str(&format!(" · {share} of {} allocated", format::bytes(all)));
    }
    text
}

/// Where rows go.
#[derive(Clone, Copy, PartialEq)]
enum To {
    Clipboard,
    File(Separated),
}

/// Rows on their way.
struct Job {
    to: To,
    client: LogClient,
    query: TickyQuery,
    total: u64,
    texts: Array,
    /// Hears what became of it.
    done: Callback<String>,
}

impl Job {
    /// Asks for the next rows, and hands over when all have come.
    fn go_on(mut self) {
        let first = u64::from(self.texts.length()) * FILE_ROWS;
        if first >= self.total {
            return self.hand_over();
        }
        self.query.rows = first..first + FILE_ROWS;
        let separated = match self.to {
            To::Clipboard => Separated::ByTabs,
            To::File(separated) => separated,
        };
        let question = TickyTextQuery {
            query: self.query.clone(),
            separated,
        };
        self.client.clone().ask(question, move |text| match text {
            Ok(text) => {
                self.texts.push(&text.into());
                self.go_on();
            }
            Err(_) => self.done.emit("The rows could not be had.".to_owned()),
        });
    }

    fn hand_over(self) {
        let rows = format::many(self.total, "row");
        let (name, kind) = match self.to {
            To::Clipboard => {
                let text: String = self
                    .texts
                    .iter()
                    .filter_map(|text| text.as_string())
                    .collect();
                spawn_local(async move {
                    self.done.emit(if copy(&text).await {
                        format!("{rows} copied")
                    } else {
                        "The browser did not let the rows be copied.".to_owned()
                    });
                });
                return;
            }
            To::File(Separated::ByTabs) => ("ticky.tsv", "text/tab-separated-values"),
            To::File(Separated::ByCommas) => ("ticky.csv", "text/csv"),
        };
        self.done.emit(match save(name, kind, &self.texts) {
            Ok(()) => format!("{rows} saved as {name}"),
            Err(_) => "The browser could not save the file.".to_owned(),
        });
    }
}

#[derive(Properties, PartialEq)]
struct FilterProps {
    view: TickyView,
    on_view: Callback<TickyView>,
}

#[component]
fn Filter(props: &FilterProps) -> Html {
    let view = props.view.clone();
    let oninput =
        use_pause(TYPED_MS, props.on_view.clone()).reform(move |event: InputEvent| TickyView {
            filter: value_of(event),
            ..view.clone()
        });
    html! {
        <>
            <label class="search">
                <input type="search" placeholder="Name, kind:thunk, entries>1000"
                    aria-label="Only counters like this: words, or such as kind:thunk and entries>1000"
                    value={props.view.filter.clone()} {oninput} />
            </label>
            <Term name="Filter by column" help={FILTER_HELP} />
        </>
    }
}
