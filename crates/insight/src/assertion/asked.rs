//! A number that is asked of a log.

use super::statistic::{Statistic, statistic_of};
use crate::amount::Amount;
use crate::finding::Severity;
use crate::kept_name::kept_name;
use crate::metrics::{
    Class, Direction, Labels, Metric, MetricContext, NoNumber, Numbers, Seen, Unit, is_like,
};
use crate::window::Window;

/// A number that is asked of a log.
#[derive(Clone, Debug)]
pub struct Asked {
    /// As it was written.
    pub text: String,
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Metric {
        metric: &'static Metric,
        labels: Labels,
        statistic: Option<Statistic>,
        window: Option<Window>,
    },
    Findings(String, Option<Severity>),
}

impl Asked {
    /// The number of a log.
    ///
    /// # Errors
    ///
    /// If the log does not tell, or if it cannot be asked like this.
    pub fn read(&self, looked: &MetricContext<'_>) -> Result<Amount, NoNumber> {
        match &self.what {
            What::Findings(pattern, severity) => {
                let found = looked.report().findings.iter().filter(|finding| {
                    is_like(pattern, &finding.rule)
                        && finding.severity >= severity.unwrap_or(Severity::Low)
                });
                Ok(Amount {
                    number: found.count() as f64,
                    unit: Unit::Count,
                })
            }
            What::Metric {
                metric,
                labels,
                statistic,
                window,
            } => {
                let of = |looked: &MetricContext<'_>| {
                    let numbers = metric.read(looked, labels)?;
                    statistic_of(metric, &numbers, *statistic, looked.context.length_ns())
                };
                match window {
                    Some(window) => of(&*looked.within(window)?),
                    None => of(looked),
                }
            }
        }
    }

    /// Where the number of a log is to be seen, if it is one of many: an extreme, or a rank.
    #[must_use]
    pub fn place(&self, looked: &MetricContext<'_>) -> Option<Seen> {
        let What::Metric {
            metric,
            labels,
            statistic,
            window,
        } = &self.what
        else {
            return None;
        };
        let of = |looked: &MetricContext<'_>| match metric.read(looked, labels) {
            Ok(Numbers::Many(all)) => (*statistic)?.one_of(&all),
            _ => None,
        };
        match window {
            Some(window) => of(&*looked.within(window).ok()?),
            None => of(looked),
        }
    }

    /// Its name in digests: its words, cut as all names there are.
    #[must_use]
    pub fn key(&self) -> String {
        kept_name(&self.text)
    }

    /// Which way is better.
    #[must_use]
    pub const fn direction(&self) -> Direction {
        match &self.what {
            What::Metric { metric, .. } => metric.direction,
            What::Findings(..) => Direction::Lower,
        }
    }

    /// The metric and how much it differs between runs: shares and rates are of time.
    #[must_use]
    pub fn class(&self) -> (Option<&'static Metric>, Class) {
        match &self.what {
            What::Metric {
                statistic: Some(Statistic::Share | Statistic::Rate),
                metric,
                ..
            } => (Some(*metric), Class::Timed),
            What::Metric {
                statistic: Some(Statistic::Count),
                metric,
                ..
            } => (Some(*metric), Class::Counted),
            What::Metric { metric, .. } => (Some(*metric), metric.class),
            What::Findings(..) => (None, Class::Timed),
        }
    }

    /// Whether it grows with the work that the program does.
    #[must_use]
    pub fn is_total(&self) -> bool {
        match &self.what {
            What::Metric {
                metric, statistic, ..
            } => {
                metric.unit != Unit::Share
                    && matches!(
                        statistic,
                        None | Some(Statistic::Sum) | Some(Statistic::Count)
                    )
            }
            What::Findings(..) => false,
        }
    }
}
