//! `eventscope metrics [FILE]`: every number that has a name.

use std::fmt;

use serde_json::{Value, json};

use super::{Condition, Failure, LogFile, Out, Range, report};
use insight::Scope;
use insight::assertion::Found;
use insight::metrics::{Labels, Looked, METRICS, Metric, NoNumber, Numbers, Unit};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    log: LogFile,
    #[command(flatten)]
    range: Range,
    /// Print JSON: times in nanoseconds, sizes in bytes, shares from 0 to 1
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Result<Condition, Failure> {
    let range = arguments.range.span()?;
    let session = arguments.log.open()?.read_session()?;
    let looked = Looked::new(Scope::new(session.recording(), range));
    let rows: Vec<Row> = METRICS
        .iter()
        .map(|metric| Row::of(metric, &looked))
        .collect();
    if arguments.json {
        let rows: Vec<Value> = rows.iter().map(Row::json).collect();
        out.json(&rows)?;
    } else {
        for row in &rows {
            out.text(format_args!("{row}\n"))?;
        }
    }
    Ok(report(session.reader()))
}

struct Row {
    metric: &'static Metric,
    numbers: Result<Numbers, NoNumber>,
}

impl Row {
    fn of(metric: &'static Metric, looked: &Looked<'_>) -> Self {
        let numbers = metric.read(looked, &Labels::new());
        Self { metric, numbers }
    }

    fn json(&self) -> Value {
        let mut object = json!(self.metric);
        match &self.numbers {
            Ok(Numbers::One(number)) => object["value"] = json!(number),
            Ok(Numbers::Many(all)) => object["values"] = json!(all),
            Err(NoNumber::NoData(why) | NoNumber::Usage(why)) => object["no_data"] = json!(why),
        }
        object
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = |number: f64, unit: Unit| Found { number, unit };
        let value = match &self.numbers {
            Ok(Numbers::One(number)) => found(*number, self.metric.unit).to_string(),
            Ok(Numbers::Many(all)) => {
                let most = all.iter().copied().fold(0.0, f64::max);
                format!(
                    "{} numbers, max {}",
                    all.len(),
                    found(most, self.metric.unit)
                )
            }
            Err(NoNumber::NoData(_) | NoNumber::Usage(_)) => "no data".to_owned(),
        };
        write!(f, "{}\t{value}\t{}", self.metric.name, self.metric.help)
    }
}
