//! `eventscope metrics [FILE]`: every number that has a name.

use std::fmt;

use super::{Condition, Failure, Out, Whole, report};
use insight::measured::Found;
use insight::metrics::MetricContext;
use insight::{Amount, Measured, RuleContext};
use model::time::Interval;

pub(super) fn run(arguments: &Whole, out: &mut Out) -> Result<Condition, Failure> {
    let (session, range) = arguments.read()?;
    let looked = MetricContext::new(RuleContext::new(session.recording(), range));
    let measured = Measured::all(&looked);
    if arguments.json {
        out.json(&measured)?;
    } else {
        for measured in &measured {
            out.text(format_args!("{}\n", Line(measured, looked.context.range)))?;
        }
    }
    Ok(report(session.reader()))
}

/// A metric for people, beside those of a range.
struct Line<'a>(&'a Measured, Interval);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { metric, found, .. } = self.0;
        let amount = |number: f64| Amount {
            number,
            unit: metric.unit,
        };
        write!(f, "{}\t", metric.name)?;
        match found {
            Found::One { value } => write!(f, "{}", amount(*value))?,
            Found::Many { values, ranks } => {
                write!(f, "{} numbers", values.len())?;
                for (name, seen) in ranks {
                    write!(f, ", {name} {} {seen}", amount(seen.value))?;
                }
            }
            Found::None { .. } => write!(f, "no data")?,
        }
        write!(f, "\t{}", metric.help)?;
        if self.0.range != self.1 {
            let (from, to) = (self.0.range.start().0, self.0.range.end().0);
            write!(f, " It is of {from} to {to} ns, which the rules look at.")?;
        }
        Ok(())
    }
}
