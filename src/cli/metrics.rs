//! `eventscope metrics [FILE]`: every number that has a name.

use std::fmt;

use serde_json::{Value, json};

use super::{Condition, Failure, Out, Whole, report};
use insight::assertion::ranks;
use insight::metrics::{Labels, Looked, METRICS, Metric, NoNumber, Numbers, Unit};
use insight::{Amount, Scope};

pub(super) fn run(arguments: &Whole, out: &mut Out) -> Result<Condition, Failure> {
    let (session, range) = arguments.read()?;
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
            Ok(Numbers::Many(all)) => {
                let values: Vec<f64> = all.iter().map(|seen| seen.value).collect();
                object["values"] = json!(values);
                let ranks = ranks(all).into_iter();
                let ranks = ranks.map(|(name, seen)| (name.to_owned(), json!(seen)));
                object["ranks"] = Value::Object(ranks.collect());
            }
            Err(NoNumber::NoData(why) | NoNumber::Inconclusive(why) | NoNumber::Usage(why)) => {
                object["no_data"] = json!(why)
            }
        }
        object
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let amount = |number: f64, unit: Unit| Amount { number, unit };
        let value = match &self.numbers {
            Ok(Numbers::One(number)) => amount(*number, self.metric.unit).to_string(),
            Ok(Numbers::Many(all)) => {
                let mut text = format!("{} numbers", all.len());
                for (name, seen) in ranks(all) {
                    let value = amount(seen.value, self.metric.unit);
                    text += &format!(", {name} {value} {seen}");
                }
                text
            }
            Err(_) => "no data".to_owned(),
        };
        write!(f, "{}\t{value}\t{}", self.metric.name, self.metric.help)
    }
}
