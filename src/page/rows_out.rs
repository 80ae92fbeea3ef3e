//! Buttons that copy or save all rows of a table, however many they are.

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
use session::query::Query;

/// So many rows are asked for at once: the worker answers other questions in
/// between.
const PART_ROWS: u64 = 20_000;
/// So many rows can be copied: a clipboard is held in memory more than once. A file has all.
const COPIED_AT_MOST: u64 = 200_000;

/// Said where the browser has no room for a file.
const NO_FILE: &str = "The browser could not save the file.";

/// Asks for some rows as text.
type Ask = dyn Fn(Range<u64>, RowFormat, Then);
/// Hears the text, if there is one.
type Then = Box<dyn FnOnce(Option<String>)>;

/// Where the texts of rows come from.
#[derive(Clone)]
pub(super) struct RowsOf(Rc<Ask>);

impl PartialEq for RowsOf {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl RowsOf {
    /// The page has them itself.
    pub(super) fn at_hand(text: impl Fn(Range<u64>, RowFormat) -> String + 'static) -> Self {
        Self(Rc::new(move |rows, separated, then| {
            then(Some(text(rows, separated)));
        }))
    }

    /// Asks for the rows themselves, part by part, and writes them here.
    pub(super) fn written<Q: Query, T: Into<Option<String>> + 'static>(
        client: LogClient,
        question: impl Fn(Range<u64>) -> Q + 'static,
        text: fn(&Q::Answer, RowFormat, bool) -> T,
    ) -> Self {
        Self(Rc::new(move |rows, separated, then| {
            let is_first = rows.start == 0;
            client.ask(question(rows), move |answer| {
                then(
                    answer
                        .ok()
                        .and_then(|answer| text(&answer, separated, is_first).into()),
                );
            });
        }))
    }

    /// Asks a question for each part of the rows.
    pub(super) fn asking<Q: Query>(
        client: LogClient,
        question: impl Fn(Range<u64>, RowFormat) -> Q + 'static,
    ) -> Self
    where
        Q::Answer: Into<Option<String>>,
    {
        Self(Rc::new(move |rows, separated, then| {
            client.ask(question(rows, separated), |text| {
                then(text.ok().and_then(Into::into));
            });
        }))
    }
}

#[derive(Properties, PartialEq)]
pub(super) struct RowsOutProps {
    /// The name of the files, without their ending.
    pub(super) name: &'static str,
    /// How many rows there are; none of a small table, which is taken as it stands.
    #[prop_or_default]
    pub(super) total: Option<u64>,
    pub(super) rows: RowsOf,
}

/// The buttons, and what became of them.
#[component]
pub(super) fn RowsOut(props: &RowsOutProps) -> Html {
    let said = use_state_eq(|| None::<String>);
    {
        // What was done before is no news once other rows are shown.
        let said = said.setter();
        use_effect_with(props.rows.clone(), move |_| said.set(None));
    }
    let job = |to: To| {
        let (rows, said, total, name) =
            (props.rows.clone(), said.setter(), props.total, props.name);
        Callback::from(move |_: MouseEvent| {
            if to == To::Clipboard && total > Some(COPIED_AT_MOST) {
                return said.set(Some("Too many rows to be copied: save them.".to_owned()));
            }
            said.set(Some("The rows are being written…".to_owned()));
            let job = Job {
                to,
                name,
                rows: rows.clone(),
                total,
                parts: Array::new(),
                said: said.clone(),
            };
            job.go_on();
        })
    };
    let disabled = props.total == Some(0);
    let (what, numbers) = match props.total {
        Some(_) => (
            "these rows, in this order",
            ": times in nanoseconds, sizes in bytes",
        ),
        None => ("this table as it stands", ""),
    };
    html! {
        <span class="rows-out">
            <span class="faint" role="status">{ (*said).clone() }</span>
            <button class="small" onclick={job(To::Clipboard)} {disabled}
                title={format!("Copy {what}, with tabs between the cells: for a spreadsheet")}>{ "Copy" }</button>
            <button class="small" onclick={job(To::File(RowFormat::Tsv))} {disabled}
                title={format!("Save {what}, with tabs between the cells{numbers}")}>{ "Save TSV" }</button>
            <button class="small" onclick={job(To::File(RowFormat::Csv))} {disabled}
                title={format!("Save {what}, as a file for a spreadsheet{numbers}")}>{ "Save CSV" }</button>
            <button class="small" onclick={job(To::File(RowFormat::Json))} {disabled}
                title={format!("Save {what}, as a list for programs{numbers}")}>{ "Save JSON" }</button>
        </span>
    }
}

/// Where rows go.
#[derive(Clone, Copy, PartialEq)]
enum To {
    Clipboard,
    File(RowFormat),
}

/// Rows on their way.
struct Job {
    to: To,
    name: &'static str,
    rows: RowsOf,
    total: Option<u64>,
    /// The parts so far: texts, or for a file blobs, which browsers keep on the disk if they are large.
    parts: Array,
    said: UseStateSetter<Option<String>>,
}

impl Job {
    /// Asks for the next rows, and hands over when all have come.
    fn go_on(self) {
        let first = u64::from(self.parts.length()) * PART_ROWS;
        let separated = match self.to {
            To::Clipboard => RowFormat::Tsv,
            To::File(separated) => separated,
        };
        if first >= self.total.unwrap_or(1) {
            self.parts.push(&separated.end().into());
            return self.hand_over();
        }
        let ask = self.rows.clone();
        let then = move |text: Option<String>| match text {
            Some(text) => {
                let text = Array::of1(&text.into());
                let part = match self.to {
                    To::Clipboard => text.get(0),
                    To::File(_) => match Blob::new_with_str_sequence(&text) {
                        Ok(blob) => blob.into(),
                        Err(_) => return self.said.set(Some(NO_FILE.to_owned())),
                    },
                };
                self.parts.push(&part);
                self.go_on();
            }
            None => self.said.set(Some("The rows could not be had.".to_owned())),
        };
        (ask.0)(first..first + PART_ROWS, separated, Box::new(then));
    }

    fn hand_over(self) {
        let rows = self.total.map_or_else(
            || "The table is".to_owned(),
            |total| format::many(total, "row"),
        );
        let (ending, kind) = match self.to {
            To::Clipboard => {
                let parts = self.parts.iter();
                let text: String = parts.filter_map(|text| text.as_string()).collect();
                spawn_local(async move {
                    self.said.set(Some(match copy(&text).await {
                        true => format!("{rows} copied"),
                        false => "The browser did not let the rows be copied.".to_owned(),
                    }));
                });
                return;
            }
            To::File(RowFormat::Tsv) => ("tsv", "text/tab-separated-values"),
            To::File(RowFormat::Csv) => ("csv", "text/csv"),
            To::File(RowFormat::Json) => ("json", "application/json"),
        };
        let name = format!("{}.{ending}", self.name);
        self.said.set(Some(match save(&name, kind, &self.parts) {
            Ok(()) => format!("{rows} saved as {name}"),
            Err(_) => NO_FILE.to_owned(),
        }));
    }
}
