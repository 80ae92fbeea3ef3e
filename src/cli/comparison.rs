//! Formats a comparison as plain text and as Markdown.

use super::out::{Rows, in_columns, titled};
use super::verdicts::AssertionResult;
use insight::Comparison;
use insight::compare::{
    Claim, Difference, FindingChange, FindingState, Side, Trend, UnequalFact, Verdict,
    changed_findings,
};
use insight::digest::NumberGroup;

/// Maximum number of rows per group without `--all`; the most changed ones are kept.
const MAX_SHOWN: usize = 20;
/// Minimum relative change for a row to be shown without `--all`; numbers of the program are always shown.
const MIN_SHOWN: f64 = 0.1;

const COLUMNS: [&str; 7] = ["", "before", "after", "change", "interval", "p", "claim"];

/// Formats a comparison as plain text.
pub(super) fn text(comparison: &Comparison, checked: &[AssertionResult], all: bool) -> String {
    let mut text = format!("{}\n", headline(comparison));
    if let Some(line) = main_change(comparison) {
        text += &format!("{line}\n");
    }
    for unequal in &comparison.unequal {
        text += &format!("{}\n", unequal_fact(unequal));
    }
    for group in NumberGroup::ALL {
        let rows = table(comparison, group, all);
        if rows.len() > 1 {
            text += &format!("\n{}\n{}", group.title(), in_columns(&rows));
        }
    }
    if has_outliers(comparison) {
        text += &format!("\n{OUTLIERS}\n");
    }
    for line in findings(comparison)
        .into_iter()
        .chain(unlisted_names(comparison))
    {
        text += &format!("{line}\n");
    }
    if !checked.is_empty() {
        text.push('\n');
    }
    for checked in checked {
        let (sign, found) = (checked.state.sign(), &checked.found);
        text += &format!("{sign} {} (found {found})\n", checked.assertion);
    }
    text
}

/// Formats a comparison as Markdown, for the summary of a CI workflow.
pub(super) fn markdown(comparison: &Comparison, checked: &[AssertionResult], all: bool) -> String {
    let mut text = format!("### {}\n\n", headline(comparison));
    if let Some(line) = main_change(comparison) {
        text += &format!("{}\n\n", cell(&line));
    }
    if !checked.is_empty() {
        text += "| | assertion | found |\n|---|---|---|\n";
        for checked in checked {
            let (sign, assertion) = (checked.state.sign(), cell(&checked.assertion));
            text += &format!("| {sign} | `{assertion}` | {} |\n", cell(&checked.found));
        }
        text.push('\n');
    }
    for unequal in &comparison.unequal {
        text += &format!("- {}\n", cell(&unequal_fact(unequal)));
    }
    for group in NumberGroup::ALL {
        let rows = table(comparison, group, all);
        if rows.len() <= 1 {
            continue;
        }
        text += &format!("\n**{}**\n\n", group.title());
        for (place, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(|text| cell(text)).collect();
            text += &format!("| {} |\n", cells.join(" | "));
            if place == 0 {
                text += "|---|--:|--:|--:|--:|--:|---|\n";
            }
        }
    }
    if has_outliers(comparison) {
        text += &format!("\n{OUTLIERS}\n");
    }
    for line in findings(comparison)
        .into_iter()
        .chain(unlisted_names(comparison))
    {
        text += &format!("\n{}\n", cell(&line));
    }
    text
}

/// Escapes a text for a Markdown table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

fn headline(comparison: &Comparison) -> String {
    let Comparison {
        runs_before,
        runs_after,
        ..
    } = comparison;
    let said = match comparison.verdict() {
        Verdict::Alike => "no difference found".to_owned(),
        Verdict::Changed => {
            let changed = comparison
                .gated()
                .filter(|row| !matches!(row.claim, Claim::NoDifference | Claim::TooFewRuns));
            let names: Vec<String> = changed.map(brief_change).collect();
            format!("changed: {}", names.join(", "))
        }
        Verdict::TooFewRuns if (*runs_before, *runs_after) == (1, 1) => {
            "one run each: no claim about times".to_owned()
        }
        Verdict::TooFewRuns => format!(
            "too few runs for a claim about times: {} per side are needed, better 10",
            comparison.runs_needed()
        ),
    };
    let before = model::format::pluralize(*runs_before as u64, "run");
    format!("{before} before, {runs_after} after: {said}")
}

/// Returns a sentence on where most of the time change is.
fn main_change(comparison: &Comparison) -> Option<String> {
    let lead = comparison.main_reason();
    lead.map(|lead| views::comparison::lead(&lead))
}

/// Formats a changed number in a few words.
fn brief_change(row: &Difference) -> String {
    let name = row.key.full_name();
    match row.claim {
        Claim::OnlyBefore | Claim::OnlyAfter => format!("{name} {}", claim(row)),
        _ => format!("{name} {} ({})", percent(share(row)), claim(row)),
    }
}

/// Footnote that explains the outliers.
const OUTLIERS: &str = "out: number of outliers, runs more than 1.5 times the interquartile range outside the quartiles of their side (Tukey's fences); they count like the others.";

fn has_outliers(comparison: &Comparison) -> bool {
    let mut sides = comparison
        .rows
        .iter()
        .flat_map(|row| [&row.before, &row.after]);
    sides.any(|side| !side.outliers.is_empty())
}

fn unequal_fact(unequal: &UnequalFact) -> String {
    let word = if unequal.is_note { "Note" } else { "Not equal" };
    let (before, after) = (join_values(&unequal.before), join_values(&unequal.after));
    format!("{word}: {}: {before} before, {after} after", unequal.name)
}

fn join_values(values: &[String]) -> String {
    let texts = values.iter().map(|value| match value.as_str() {
        "" => "nothing",
        value => value,
    });
    texts.collect::<Vec<_>>().join(" or ")
}

/// Returns the rows of a group, preceded by the column titles.
fn table(comparison: &Comparison, group: NumberGroup, all: bool) -> Rows {
    let of_group = comparison.rows.iter().filter(|row| row.key.group == group);
    let mut rows: Vec<&Difference> = of_group.collect();
    if !all {
        rows.retain(|row| row.before.median != 0.0 || row.after.median != 0.0);
    }
    if !all && !matches!(group, NumberGroup::Asked | NumberGroup::Program) {
        rows.retain(|row| row.claim != Claim::NoDifference && share(row).abs() >= MIN_SHOWN);
        rows.sort_by(|a, b| b.change.abs().total_cmp(&a.change.abs()));
        rows.truncate(MAX_SHOWN);
    }
    let mut table = titled(&COLUMNS);
    for row in rows {
        table.push(cells(row).to_vec());
        table.extend(minima_row(row).map(Vec::from));
    }
    table
}

/// Returns a row that compares the minima of both sides, if they are informative.
fn minima_row(row: &Difference) -> Option<[String; 7]> {
    let (before, after) = (&row.before, &row.after);
    let several = before.values.len() > 1 && after.values.len() > 1;
    if !row.least_tells || !several {
        return None;
    }
    let share = after.least / before.least - 1.0;
    let mut cells = [const { String::new() }; 7];
    cells[0] = format!("{} · least", row.name());
    cells[1] = row.amount(before.least).to_string();
    cells[2] = row.amount(after.least).to_string();
    if before.least > 0.0 {
        cells[3] = percent(share);
    }
    Some(cells)
}

/// Returns the relative change; infinite if the old value is 0 and the new one is not.
fn share(row: &Difference) -> f64 {
    match row.ratio {
        Some(ratio) => ratio - 1.0,
        None if row.change == 0.0 => 0.0,
        None => f64::INFINITY.copysign(row.change),
    }
}

/// Formats a relative change as a percentage, or as a factor if it is very large.
pub(super) fn percent(share: f64) -> String {
    const VERY_MUCH: f64 = 9.0;
    match share {
        share if share.is_infinite() => String::new(),
        share if share > VERY_MUCH => format!("{:.1} ×", share + 1.0),
        share => format!("{:+.1} %", share * 100.0),
    }
}

fn cells(row: &Difference) -> [String; 7] {
    let value = |side: &Side| match (side.values.len(), side.outliers.len()) {
        (0, _) => String::new(),
        (_, 0) => row.amount(side.median).to_string(),
        (_, out) => format!("{} ({out} out)", row.amount(side.median)),
    };
    let both = !row.before.values.is_empty() && !row.after.values.is_empty();
    let interval = row
        .ratio_interval
        .map(|(low, high)| format!("{} … {}", percent(low - 1.0), percent(high - 1.0)));
    let p = row.corrected_p.or(row.p).map(|p| match p {
        p if p < 0.001 => "< 0.001".to_owned(),
        p => format!("{p:.3}"),
    });
    [
        row.name(),
        value(&row.before),
        value(&row.after),
        if both {
            percent(share(row))
        } else {
            String::new()
        },
        interval.unwrap_or_default(),
        p.unwrap_or_default(),
        claim(row).to_owned(),
    ]
}

const fn claim(row: &Difference) -> &'static str {
    match (row.claim, row.trend) {
        (Claim::Changed, Trend::Better) => "better",
        (Claim::Changed, Trend::Worse) => "worse",
        (Claim::Changed, Trend::Neutral) => "changed",
        (Claim::NoDifference, _) => "~",
        (Claim::TooFewRuns, _) => "no claim",
        (Claim::OnlyBefore, _) => "only before",
        (Claim::OnlyAfter, _) => "only after",
    }
}

fn findings(comparison: &Comparison) -> Vec<String> {
    let changed = changed_findings(&comparison.findings);
    let line = |change: &FindingChange| {
        let word = match change.state {
            FindingState::New => "New",
            FindingState::Gone => "Gone",
            FindingState::Worse => "Worse",
            FindingState::Better => "Better",
            FindingState::Same => "Same",
        };
        let shown = change
            .after
            .as_ref()
            .filter(|_| change.state != FindingState::Gone);
        let shown = shown.or(change.before.as_ref());
        let title = shown.map_or("", |known| known.title.as_str());
        format!("{word}: {title} [{}]", change.identity)
    };
    let mut lines: Vec<String> = changed.map(line).collect();
    if !lines.is_empty() {
        lines.insert(0, "\nFindings".to_owned());
    }
    lines
}

fn unlisted_names(comparison: &Comparison) -> Vec<String> {
    let left_out = comparison.left_out.iter();
    let line = |(group, names): &(NumberGroup, u64)| {
        format!(
            "{}: {names} more names without numbers on one side",
            group.title()
        )
    };
    left_out.map(line).collect()
}
