//! `eventscope flamegraph FILE --compare OTHER`: compares the stacks of two logs.

use std::io::{self, Write};
use std::path::Path;

use serde_json::json;

use super::flamegraph::{
    Arguments, Format, Stacks, clip_to_profile, from, report_if_empty, tracks,
};
use super::input::LogFile;
use super::{EscapeStyle, Failure, Out, Output, Table};
use model::profile::stack_source::{CensusCounts, FlameSelection};
use scene::palette::Palette;
use session::Session;
use session::flame::cache::StepCache;
use session::flame::query::{FlameQuery, FlameRow, FlameTableQuery, View, answer, table};
use views::flame::{picture_query, svg};

/// The log to compare with, which is the earlier one.
pub(super) struct ComparedLog {
    pub(super) session: Session,
    choice: FlameSelection,
}

impl ComparedLog {
    /// Reads the log and makes the same choices as for the other one.
    pub(super) fn read(
        path: &Path,
        arguments: &Arguments,
        query: &FlameQuery,
    ) -> Result<Self, Failure> {
        let mut session = LogFile::from_path(path).open()?.read_session()?;
        arguments.set_span_prefixes(&mut session);
        let sources = session.flame_sources();
        let asked = arguments.source.unwrap_or(Stacks::Of(query.choice.source));
        let from = from(Some(asked), &sources)?;
        let range = session.recording().clip_to_cut(arguments.range.span()?);
        let choice = FlameSelection {
            range: clip_to_profile(range, &session, from.source()),
            tracks: tracks(from, &arguments.track, &sources)?,
            ..query.choice.clone()
        };
        Ok(Self { session, choice })
    }

    pub(super) fn print(
        &self,
        arguments: &Arguments,
        session: &Session,
        query: &FlameQuery,
        out: &mut Out,
    ) -> Result<(), Failure> {
        let before = (&self.session, &self.choice);
        let Some(compared) = session.compared(&query.choice, before, !arguments.shares) else {
            return Ok(());
        };
        if arguments.format == Format::Svg {
            let query = FlameQuery {
                view: View::LeftHeavy,
                ..picture_query(query)
            };
            let sources = session.flame_sources();
            let source = sources
                .iter()
                .find(|info| info.source == query.choice.source);
            let picture = source.map(|source| {
                let answer = answer(&compared, &query);
                report_if_empty(answer.1.is_empty(), &query);
                svg(answer, &query, source, &Palette::LIGHT, false)
            });
            let picture = picture.unwrap_or_default();
            return Ok(out.file(EscapeStyle::Xml)?.write_all(picture.as_bytes())?);
        }
        let table_query = FlameTableQuery {
            choice: query.choice.clone(),
            steps: query.steps.clone(),
        };
        let (rows, censuses) = table(&StepCache::default(), &compared, &table_query);
        report_if_empty(rows.is_empty(), query);
        let scale = Scale::new(&rows, censuses, arguments.shares);
        Ok(print_rows(&rows, &scale, arguments.output, out)?)
    }
}

/// Units of the printed weights: absolute amounts (for censuses, their mean), or shares of each log's total.
struct Scale {
    now: f64,
    before: f64,
    shares: bool,
}

impl Scale {
    fn new(rows: &[FlameRow], censuses: CensusCounts, shares: bool) -> Self {
        let whole = |own: fn(&FlameRow) -> u64| rows.iter().map(own).sum::<u64>().max(1) as f64;
        let count = |censuses: u32| f64::from(censuses.max(1));
        if shares {
            return Self {
                now: whole(|row| row.own),
                before: whole(|row| row.before.map_or(0, |(own, _)| own)),
                shares,
            };
        }
        Self {
            now: count(censuses.now),
            before: count(censuses.before),
            shares,
        }
    }

    fn of(&self, weight: u64, whole: f64) -> serde_json::Value {
        let scaled = weight as f64 / whole;
        if self.shares {
            json!((scaled * 1e6).round() / 1e6)
        } else {
            json!(scaled.round() as u64)
        }
    }
}

const COLUMNS: [&str; 6] = [
    "frame",
    "self_before",
    "self",
    "total_before",
    "total",
    "location",
];

fn print_rows(rows: &[FlameRow], scale: &Scale, output: Output, out: &mut Out) -> io::Result<()> {
    let mut table = Table::begin(out, output, &COLUMNS)?;
    for row in rows {
        let (own, total) = row.before.unwrap_or_default();
        let weights = [
            scale.of(own, scale.before),
            scale.of(row.own, scale.now),
            scale.of(total, scale.before),
            scale.of(row.total, scale.now),
        ];
        let location = row.frame.location.as_deref();
        if table.is_json() {
            let [own_before, own, total_before, total] = weights;
            table.object(&json!({
                "frame": row.frame.name(),
                "self_before": own_before,
                "self": own,
                "total_before": total_before,
                "total": total,
                "location": location,
            }))?;
        } else {
            let [a, b, c, d] = weights.map(|weight| weight.to_string());
            let name = row.frame.name();
            table.row(&[
                name.into(),
                a.into(),
                b.into(),
                c.into(),
                d.into(),
                location.into(),
            ])?;
        }
    }
    table.end()
}
