//! HTML document around the sections: head, style, header and footer.

use std::fmt::Write as _;

use super::html::Html;
use super::{ReportSubject, Section};
use crate::words::diagnostics::whole_sentence;
use scene::format;
use scene::markup::escape;
use scene::palette::Palette;
use session::Overview;

/// Style sheet; the definitions of the colors precede it.
const STYLE: &str = include_str!("report.css");

/// Returns the start of a file up to its body. The style must not be escaped, the title must; `policy` extends the
/// content security policy.
pub(crate) fn head(title: &str, policy: &str, style: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <meta name=\"generator\" content=\"Eventscope {version}\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'{policy}\"/>\n\
         <title>{title}</title>\n<style>\n{style}</style>\n</head>\n"
    )
}

/// Writes the whole file.
pub(super) fn write(overview: &Overview, subject: &ReportSubject, sections: &[Section]) -> String {
    let mut out = String::new();
    let name = escape(&subject.name);
    let version = env!("CARGO_PKG_VERSION");
    let light = Palette::select(false, false).css();
    let dark = Palette::select(true, false).css();
    let style = format!(
        ":root{{{light}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{STYLE}"
    );
    let title = format!("{name} – report of Eventscope");
    out.push_str(&head(&title, "", &style));
    // Writing to a string cannot fail.
    let _ = writeln!(out, "<body>\n<header>\n<h1>{name}</h1>");
    out.push_str(about(overview, subject).as_str());
    out.push_str("<nav aria-label=\"Sections\"><ul>\n");
    for Section { id, title, .. } in sections {
        let _ = writeln!(out, "<li><a href=\"#{id}\">{title}</a></li>");
    }
    out.push_str("</ul></nav>\n</header>\n<main>\n");
    for Section { id, title, body } in sections {
        let body = body.as_str();
        let _ = writeln!(
            out,
            "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n{body}</section>"
        );
    }
    let _ = write!(
        out,
        "</main>\n<footer><p>Made by Eventscope {version} from {name}. Times count from the start of the log’s clock. \
         This file has no scripts and loads nothing.</p></footer>\n</body>\n</html>\n"
    );
    out
}

/// Writes facts about the log and the report's range, and the warnings about the log.
fn about(overview: &Overview, subject: &ReportSubject) -> Html {
    let mut html = Html::default();
    let range = match (subject.range, overview.span) {
        (Some(range), Some(log)) => format!("only {}", format::range(range.clip(log))),
        (None, Some(log)) => format!("the whole log, {}", format::range(log)),
        (_, None) => "the log has no events".to_owned(),
    };
    let mut facts = vec![("Log", overview.facts()), ("Time", range)];
    if let Some(program) = &overview.program {
        facts.insert(0, ("Program", program.clone()));
    }
    html.facts(&facts);
    if overview.damaged {
        html.paragraph("Part of this log is missing.");
    }
    html.list(overview.warnings.iter().map(whole_sentence));
    let listed = overview.warnings.len() as u64;
    if overview.warning_count > listed {
        let more = format::count(overview.warning_count - listed);
        html.note(&format!("{more} more diagnostics are not listed."));
    }
    html
}
