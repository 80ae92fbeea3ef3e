//! HTML document: head, style, sections, data and script.

use std::fmt::Write as _;

use super::html::Html;
use super::text::{label_values, label_word};
use super::{FleetPage, SCRIPT, claims, data, findings, method, number, overview};
use crate::report::document::head;
use crate::words::capitalized;
use scene::format;
use scene::markup::escape;
use scene::palette::Palette;

/// Style sheets of reports and of this page; the definitions of the colors precede them.
const STYLES: [&str; 2] = [
    include_str!("../report/report.css"),
    include_str!("fleet.css"),
];

/// Hash of [`SCRIPT`] in the content security policy.
pub(super) const SCRIPT_HASH: &str = "sha256-4KbXcFrTKZT2CuVbLi9QSWExkzsDrg83nungAN1ANII=";

/// Returns the style sheet with the palettes.
pub fn style() -> String {
    let light = Palette::select(false, false).css();
    let dark = Palette::select(true, false).css();
    let [report, own] = STYLES;
    format!(
        ":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}\n\
         [data-theme=dark]{{{dark}}}\n[data-theme=dark]{{color-scheme:dark}}\n[data-theme=light]{{color-scheme:light}}\n{report}{own}"
    )
}

/// Writes the whole file.
pub fn document(page: &FleetPage<'_>) -> String {
    let title = format!("{} – Eventscope", escape(&title(page)));
    let policy = format!("; script-src '{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'");
    let mut out = head(&title, &policy, &style());
    out.push_str("<body class=\"fleet\">\n");
    out.push_str(&fragment(page));
    let version = env!("CARGO_PKG_VERSION");
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "<footer><p>Made by Eventscope {version} from {}. This file loads nothing.</p></footer>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        escape(&format::pluralize(page.fleet.runs.len() as u64, "digest"))
    );
    out
}

/// Writes header, sections and data, for a page with a head of its own that has [`style`] and [`SCRIPT`].
pub fn fragment(page: &FleetPage<'_>) -> String {
    let mut html = Html::default();
    let mut header = Html::default();
    header.add("h1", "", &Html::text(title(page)));
    header.append(&facts(page));
    let sections = sections(page);
    let mut links = Html::default();
    for (id, title, _) in &sections {
        let link = Html::leaf("a", &format!("href=\"#{id}\""), title);
        links.add("li", "", &link);
    }
    header.add(
        "nav",
        "aria-label=\"Sections\"",
        &Html::element("ul", "", &links),
    );
    html.add("header", "", &header);
    let mut main = Html::default();
    for (id, title, body) in sections {
        let mut section = Html::default();
        section.add("h2", &format!("id=\"{id}-title\""), &Html::text(title));
        section.append(&body);
        main.add(
            "section",
            &format!("id=\"{id}\" aria-labelledby=\"{id}-title\""),
            &section,
        );
    }
    html.add("main", "", &main);
    html.add(
        "script",
        "type=\"application/json\" id=\"fleet-data\"",
        &Html::markup(data::json(page)),
    );
    html.as_str().to_owned()
}

fn sections(page: &FleetPage<'_>) -> Vec<(&'static str, &'static str, Html)> {
    let mut details = Html::default();
    let numbers = page.analysis.numbers.iter().enumerate();
    for (index, analysis) in numbers.filter(|(_, number)| number.is_headline) {
        details.append(&number::article(page, index, analysis));
    }
    let details = Html::element("div", "class=\"static\"", &details);
    vec![
        ("claims", "Significant differences", claims::section(page)),
        ("overview", "Numbers", overview::section(page)),
        ("numbers", "Details by number", details),
        ("findings", "Findings", findings::section(page)),
        ("method", "Method", method::section(page)),
    ]
}

fn title(page: &FleetPage<'_>) -> String {
    if let Some(title) = page.title {
        return title.to_owned();
    }
    let runs = format::pluralize(page.fleet.runs.len() as u64, "run");
    match page.fleet.label("app").map(|label| label.values.as_slice()) {
        Some([app]) => format!("{app}: {runs}"),
        Some(apps) if apps.len() > 1 => format!("{runs} of {} programs", apps.len()),
        _ => runs,
    }
}

fn facts(page: &FleetPage<'_>) -> Html {
    let mut rows = vec![(
        "Runs".to_owned(),
        format::count(page.fleet.runs.len() as u64),
    )];
    for label in &page.fleet.labels {
        rows.push((capitalized(label_word(&label.key)), label_values(label)));
    }
    if !page.skipped.is_empty() {
        rows.push((
            "Skipped".to_owned(),
            format::pluralize(page.skipped.len() as u64, "file"),
        ));
    }
    let mut list = Html::default();
    for (name, text) in rows {
        let mut row = Html::element("dt", "", &Html::text(name));
        row.append(&Html::element("dd", "", &Html::text(text)));
        list.add("div", "", &row);
    }
    Html::element("dl", "", &list)
}
