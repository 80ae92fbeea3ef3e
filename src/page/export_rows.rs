//! Buttons that copy or save all rows of a table, of any length.

use std::ops::Range;
use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen_futures::spawn_local;
use web_sys::Blob;
use yew::prelude::*;

use super::client::LogClient;
use super::copy::copy;
use super::save::save;
use scene::format;
use session::cells::RowFormat;
use session::tables::{TableQuery, TextQuery};

/// Number of rows per request: the worker answers other queries between requests.
const CHUNK_ROWS: u64 = 20_000;
/// Maximum number of rows to copy: the clipboard is held in memory more than once. Files have no limit.
const MAX_COPIED_ROWS: u64 = 200_000;

/// Message if the browser cannot create the file.
const NO_FILE: &str = "The browser could not save the file.";

/// Function that requests a range of rows as text.
type Ask = dyn Fn(Range<u64>, RowFormat, TextCallback);
/// Callback for the text; `None` if the request failed.
type TextCallback = Box<dyn FnOnce(Option<String>)>;

/// Source of a table's rows as text.
#[derive(Clone)]
pub(super) struct RowSource(Rc<Ask>);

impl PartialEq for RowSource {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl RowSource {
    /// Source that formats rows already on the page.
    pub(super) fn local(text: impl Fn(Range<u64>, RowFormat) -> String + 'static) -> Self {
        Self(Rc::new(move |rows, row_format, then| {
            then(Some(text(rows, row_format)));
        }))
    }

    /// Source that requests the rows of a table range by range as text.
    pub(super) fn of_table<Q: TableQuery>(client: LogClient, table: Q) -> Self {
        Self(Rc::new(move |rows, format, then| {
            let query = table.clone().with_rows(rows);
            client.ask(TextQuery { query, format }, |text| {
                then(text.ok().flatten())
            });
        }))
    }
}

/// Returns [`RowSource::of_table`]; the same one for the same table.
#[hook]
pub(super) fn use_table_rows<Q: TableQuery>(client: &LogClient, table: Q) -> RowSource {
    let rows = use_memo((client.clone(), table), |(client, table)| {
        RowSource::of_table(client.clone(), table.clone())
    });
    (*rows).clone()
}

#[derive(Properties, PartialEq)]
pub(super) struct ExportButtonsProps {
    /// Base name of saved files.
    pub(super) name: &'static str,
    /// Number of rows; `None` for a small table, which is exported in one piece.
    #[prop_or_default]
    pub(super) total: Option<u64>,
    pub(super) rows: RowSource,
}

/// Export buttons and their status message.
#[component]
pub(super) fn ExportButtons(props: &ExportButtonsProps) -> Html {
    let status = use_state_eq(|| None::<String>);
    {
        // The message about an earlier export is outdated once other rows are shown.
        let status = status.setter();
        use_effect_with(props.rows.clone(), move |_| status.set(None));
    }
    let job = |target: Target| {
        let (rows, status, total, name) =
            (props.rows.clone(), status.setter(), props.total, props.name);
        Callback::from(move |_: MouseEvent| {
            if target == Target::Clipboard && total > Some(MAX_COPIED_ROWS) {
                return status.set(Some("Too many rows to be copied: save them.".to_owned()));
            }
            status.set(Some("Writing the rows…".to_owned()));
            let job = Job {
                target,
                name,
                rows: rows.clone(),
                total,
                parts: Array::new(),
                status: status.clone(),
            };
            job.request_next();
        })
    };
    let disabled = props.total == Some(0);
    let what = match props.total {
        Some(_) => "these rows, in this order",
        None => "this table",
    };
    let numbers = ": times in nanoseconds, sizes in bytes";
    html! {
        <span class="rows-out">
            <span class="faint" role="status">{ (*status).clone() }</span>
            <button class="small" onclick={job(Target::Clipboard)} {disabled}
                title={format!("Copy {what}, with tabs between the cells: for a spreadsheet")}>{ "Copy" }</button>
            <button class="small" onclick={job(Target::File(RowFormat::Tsv))} {disabled}
                title={format!("Save {what}, with tabs between the cells{numbers}")}>{ "Save TSV" }</button>
            <button class="small" onclick={job(Target::File(RowFormat::Csv))} {disabled}
                title={format!("Save {what}, as a file for a spreadsheet{numbers}")}>{ "Save CSV" }</button>
            <button class="small" onclick={job(Target::File(RowFormat::Json))} {disabled}
                title={format!("Save {what}, as a list for programs{numbers}")}>{ "Save JSON" }</button>
        </span>
    }
}

/// Export target.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    Clipboard,
    File(RowFormat),
}

/// Export in progress.
struct Job {
    target: Target,
    name: &'static str,
    rows: RowSource,
    total: Option<u64>,
    /// Chunks so far: texts, or for a file blobs, which browsers keep on disk if they are large.
    parts: Array,
    status: UseStateSetter<Option<String>>,
}

impl Job {
    /// Requests the next rows, or finishes when all have arrived.
    fn request_next(self) {
        let first = u64::from(self.parts.length()) * CHUNK_ROWS;
        let row_format = match self.target {
            Target::Clipboard => RowFormat::Tsv,
            Target::File(row_format) => row_format,
        };
        if first >= self.total.unwrap_or(1) {
            self.parts.push(&row_format.end().into());
            return self.finish();
        }
        let ask = self.rows.clone();
        let then = move |text: Option<String>| match text {
            Some(text) => {
                let text = Array::of1(&text.into());
                let part = match self.target {
                    Target::Clipboard => text.get(0),
                    Target::File(_) => match Blob::new_with_str_sequence(&text) {
                        Ok(blob) => blob.into(),
                        Err(_) => return self.status.set(Some(NO_FILE.to_owned())),
                    },
                };
                self.parts.push(&part);
                self.request_next();
            }
            None => self
                .status
                .set(Some("The rows could not be loaded.".to_owned())),
        };
        (ask.0)(first..first + CHUNK_ROWS, row_format, Box::new(then));
    }

    fn finish(self) {
        let rows = self.total.map_or_else(
            || "The table is".to_owned(),
            |total| format::pluralize(total, "row"),
        );
        let (ending, kind) = match self.target {
            Target::Clipboard => {
                let parts = self.parts.iter();
                let text: String = parts.filter_map(|text| text.as_string()).collect();
                spawn_local(async move {
                    self.status.set(Some(match copy(&text).await {
                        true => format!("{rows} copied"),
                        false => "The browser did not allow copying the rows.".to_owned(),
                    }));
                });
                return;
            }
            Target::File(RowFormat::Tsv) => ("tsv", "text/tab-separated-values"),
            Target::File(RowFormat::Csv) => ("csv", "text/csv"),
            Target::File(RowFormat::Json) => ("json", "application/json"),
        };
        let name = format!("{}.{ending}", self.name);
        self.status.set(Some(match save(&name, kind, &self.parts) {
            Ok(()) => format!("{rows} saved as {name}"),
            Err(_) => NO_FILE.to_owned(),
        }));
    }
}
