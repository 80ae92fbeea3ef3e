//! Section of what stands out.

use super::html::Html;
use super::text::{self, KINDS};
use super::{FleetPage, number};
use insight::fleet::{Claim, ClaimSubject};
use scene::format;

/// Number of claims of a kind that are shown at once.
const SHOWN: usize = 8;
/// Number of further claims that are listed on demand.
const MORE: usize = 200;

pub(super) fn section(page: &FleetPage<'_>) -> Html {
    let mut html = Html::default();
    if page.analysis.claims.is_empty() {
        html.paragraph("", text::nothing(page.fleet));
    }
    for (kind, heading) in KINDS.iter().enumerate() {
        let claims = text::claims_of_kind(page.analysis, kind);
        if claims.is_empty() {
            continue;
        }
        html.add("h3", "", &Html::text(heading));
        let (shown, more) = claims.split_at(claims.len().min(SHOWN));
        html.append(&list(page, shown));
        if !more.is_empty() {
            let count = format::count(more.len() as u64);
            let mut rest = Html::leaf("summary", "", format!("{count} more"));
            rest.append(&list(page, &more[..more.len().min(MORE)]));
            html.add("details", "", &rest);
        }
    }
    html
}

fn list(page: &FleetPage<'_>, claims: &[&Claim]) -> Html {
    let mut items = Html::default();
    for claim in claims {
        items.add("li", "", &item(page, claim));
    }
    Html::element("ul", "class=\"claims\"", &items)
}

fn item(page: &FleetPage<'_>, claim: &Claim) -> Html {
    let mut html = Html::default();
    let subject = match &claim.subject {
        ClaimSubject::Run { run } => {
            let mut subject = Html::text(text::claimed_program(claim));
            subject.append(&number::run(page, *run));
            subject
        }
        _ => Html::text(text::subject(page.fleet, claim)),
    };
    html.add("p", "class=\"subject\"", &subject);
    let all = &page.analysis.numbers;
    let (main, others) = text::main_numbers(all, claim);
    let mut numbers = Html::default();
    for claimed in main {
        let [title, size, values] = text::claimed(all, &claim.subject, claimed);
        let (class, trend) = text::trend(claimed.effect.trend);
        let reference = number::reference(&title, claimed.number);
        let mut row = Html::element("span", "class=\"title\"", &reference);
        for (element, class, text) in [
            ("b", class.to_owned(), size),
            ("span", "values".to_owned(), values),
            ("span", format!("trend {class}"), trend.to_owned()),
        ] {
            row.add_text(" ");
            row.append(&Html::leaf(element, &format!("class=\"{class}\""), text));
        }
        numbers.add("li", "", &row);
    }
    html.add("ul", "class=\"effects\"", &numbers);
    if let Some(others) = text::other_numbers(all, others) {
        html.paragraph("note", others);
    }
    let mut notes = Html::default();
    match &claim.subject {
        ClaimSubject::Change {
            before_run,
            after_run,
            ..
        } => {
            notes.add_text("Last run before: ");
            notes.append(&number::run(page, *before_run));
            notes.add_text(" · first run after: ");
            notes.append(&number::run(page, *after_run));
        }
        ClaimSubject::Run { run } => {
            notes.add_text(number::run_labels(page, *run));
            let path = number::run_path(page, *run);
            notes.append(&Html::leaf("span", "class=\"path\"", path));
        }
        ClaimSubject::Label { .. } => {}
    }
    if !notes.as_str().is_empty() {
        html.add("p", "class=\"note\"", &notes);
    }
    html
}
