//! The table of how each capability spent the log, or the selected range.

use yew::prelude::*;

use crate::automata::Span;
use crate::ids::Nanos;
use crate::scene::format;
use crate::timeline::query::UsageRow;

#[derive(Properties, PartialEq)]
pub(super) struct SummaryProps {
    pub(super) rows: std::rc::Rc<Vec<UsageRow>>,
    /// The selected range, if there is one.
    pub(super) range: Option<Span>,
}

/// A bar of the three shares.
fn bar(row: &UsageRow) -> Html {
    let total = (row.mutator_ns + row.gc_ns + row.idle_ns).max(1) as f64;
    let percent = |ns: u64| ns as f64 / total * 100.0;
    let (mutator, gc) = (percent(row.mutator_ns), percent(row.gc_ns));
    html! {
        <svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
            <rect class="idle" x="0" y="0" width="100" height="8" />
            <rect class="running" x="0" y="0" width={format!("{mutator:.3}")} height="8" />
            <rect class="gc" x={format!("{mutator:.3}")} y="0" width={format!("{gc:.3}")} height="8" />
        </svg>
    }
}

fn cells(row: &UsageRow) -> Html {
    let total = row.mutator_ns + row.gc_ns + row.idle_ns;
    let cell = |ns: u64| {
        html! {
            <>
                <td class="number">{ format::duration(Nanos(ns)) }</td>
                <td class="number share-number">{ if total == 0 { "–".to_owned() } else { format::percent(ns, total) } }</td>
            </>
        }
    };
    html! { <><td class="bar-cell">{ bar(row) }</td>{ cell(row.mutator_ns) }{ cell(row.gc_ns) }{ cell(row.idle_ns) }</> }
}

/// The table.
#[component]
pub(super) fn Summary(props: &SummaryProps) -> Html {
    let rows = &props.rows;
    let sum = |get: fn(&UsageRow) -> u64| rows.iter().map(get).sum::<u64>();
    let all = UsageRow {
        cap: crate::ids::CapId(0),
        mutator_ns: sum(|row| row.mutator_ns),
        gc_ns: sum(|row| row.gc_ns),
        idle_ns: sum(|row| row.idle_ns),
    };
    let of = match props.range {
        Some(range) => format!("How each capability spent {}", span_text(range)),
        None => "How each capability spent the whole log".to_owned(),
    };
    if rows.is_empty() {
        return html! { <p class="empty">{ "This log names no capability, so that nothing is known of their time. It was perhaps made without scheduler events: run the program with +RTS -l." }</p> };
    }
    html! {
        <div class="summary">
            <table>
                <caption>{ of }</caption>
                <thead>
                    <tr>
                        <th scope="col">{ "Capability" }</th>
                        <th class="bar-cell"><span class="visually-hidden">{ "Shares as a bar" }</span></th>
                        <th scope="col" colspan="2"><span class="swatch running" aria-hidden="true" />{ " Mutator" }</th>
                        <th scope="col" colspan="2"><span class="swatch gc" aria-hidden="true" />{ " Collection" }</th>
                        <th scope="col" colspan="2"><span class="swatch idle" aria-hidden="true" />{ " Idle" }</th>
                    </tr>
                </thead>
                <tbody>
                    { for rows.iter().map(|row| html! {
                        <tr key={row.cap.0}><th scope="row">{ format!("Capability {}", row.cap) }</th>{ cells(row) }</tr>
                    }) }
                </tbody>
                if rows.len() > 1 {
                    <tfoot><tr><th scope="row">{ "All" }</th>{ cells(&all) }</tr></tfoot>
                }
            </table>
            <dl class="explained">
                <dt>{ "Mutator" }</dt><dd>{ "time in which the capability ran a Haskell thread" }</dd>
                <dt>{ "Collection" }</dt><dd>{ "time in which it collected garbage, from GC start to GC end" }</dd>
                <dt>{ "Idle" }</dt><dd>{ "the rest of the capability's life: no thread was ready on it, or they were all in foreign calls" }</dd>
            </dl>
        </div>
    }
}

/// `51.2 ms – 59.6 ms (8.40 ms)`.
pub(super) fn span_text(span: Span) -> String {
    format!(
        "{} – {} ({})",
        format::time(span.start),
        format::time(span.end),
        format::duration(span.duration())
    )
}
