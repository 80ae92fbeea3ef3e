//! `eventscope metrics [FILE]`: prints all named metrics.

use std::fmt;

use super::{Condition, Failure, LogRangeArguments, Out, report};
use insight::measured::MeasuredValue;
use insight::metrics::MetricContext;
use insight::{Amount, MeasuredMetric, RuleContext};
use model::time::Interval;

pub(super) fn run(arguments: &LogRangeArguments, out: &mut Out) -> Result<Condition, Failure> {
    let (session, range) = arguments.read()?;
    let looked = MetricContext::new(RuleContext::new(session.recording(), range));
    let measured = MeasuredMetric::evaluate_all(&looked);
    if arguments.json {
        out.json(&measured)?;
    } else {
        for measured in &measured {
            out.text(format_args!("{}\n", Line(measured, looked.context.range)))?;
        }
    }
    Ok(report(session.reader()))
}

/// Metric as plain text, with the default range of metrics; a different range of this metric is printed
/// explicitly.
struct Line<'a>(&'a MeasuredMetric, Interval);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MeasuredMetric { metric, found, .. } = self.0;
        let amount = |number: f64| Amount {
            number,
            unit: metric.unit,
        };
        write!(f, "{}\t", metric.name)?;
        match found {
            MeasuredValue::One { value } => write!(f, "{}", amount(*value))?,
            MeasuredValue::Many { values, ranks } => {
                write!(f, "{} numbers", values.len())?;
                for (name, seen) in ranks {
                    write!(f, ", {name} {} {seen}", amount(seen.value))?;
                }
            }
            MeasuredValue::None { .. } => write!(f, "no data")?,
        }
        write!(f, "\t{}", metric.help)?;
        if self.0.range != self.1 {
            let (from, to) = (self.0.range.start().0, self.0.range.end().0);
            write!(f, " Its range is {from} to {to} ns, as for the rules.")?;
        }
        Ok(())
    }
}
