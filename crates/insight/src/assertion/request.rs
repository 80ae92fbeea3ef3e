//! Values that assertions request from a log.

use super::statistic::{Statistic, statistic_of};
use crate::amount::Amount;
use crate::finding::Severity;
use crate::metrics::{
    Direction, Labels, LocatedNumber, Metric, MetricContext, NumberError, Numbers, Unit,
    Variability, matches_pattern,
};
use crate::rules::RULES;
use crate::truncated_name::truncated_name;
use crate::window::Window;

/// Value that an assertion requests from a log.
#[derive(Clone, Debug)]
pub struct ValueRequest {
    /// Source text, trimmed.
    pub text: String,
    pub(super) kind: RequestKind,
}

#[derive(Clone, Debug)]
pub(super) enum RequestKind {
    Metric {
        metric: &'static Metric,
        labels: Labels,
        statistic: Option<Statistic>,
        window: Option<Window>,
    },
    Findings(String, Option<Severity>),
}

impl ValueRequest {
    /// Returns the value in a log.
    ///
    /// # Errors
    ///
    /// If the log is not sufficient, or the request is invalid.
    pub fn evaluate(&self, metrics: &MetricContext<'_>) -> Result<Amount, NumberError> {
        match &self.kind {
            RequestKind::Findings(pattern, severity) => {
                let report = metrics.report();
                let found = report.findings.iter().filter(|finding| {
                    matches_pattern(pattern, &finding.rule)
                        && finding.severity >= severity.unwrap_or(Severity::Low)
                });
                let undecided = { report.cannot_tell.iter() }
                    .filter(|rule| matches_pattern(pattern, &rule.rule));
                let rules = RULES
                    .iter()
                    .filter(|rule| matches_pattern(pattern, rule.name));
                if let Some(first) = undecided.clone().next()
                    && undecided.count() == rules.count()
                {
                    return Err(NumberError::NoData(first.why.clone()));
                }
                Ok(Amount {
                    number: found.count() as f64,
                    unit: Unit::Count,
                })
            }
            RequestKind::Metric {
                metric,
                labels,
                statistic,
                window,
            } => {
                let of = |metrics: &MetricContext<'_>| {
                    let numbers = metric.evaluate(metrics, labels)?;
                    statistic_of(metric, &numbers, *statistic, metrics.context.length_ns())
                };
                match window {
                    Some(window) => of(&*metrics.within(window)?),
                    None => of(metrics),
                }
            }
        }
    }

    /// Returns the position in the log of the value, if it is one of many: an extreme or a percentile.
    pub fn position(&self, metrics: &MetricContext<'_>) -> Option<LocatedNumber> {
        let RequestKind::Metric {
            metric,
            labels,
            statistic,
            window,
        } = &self.kind
        else {
            return None;
        };
        let of = |metrics: &MetricContext<'_>| match metric.evaluate(metrics, labels) {
            Ok(Numbers::Many(all)) => (*statistic)?.select(&all),
            _ => None,
        };
        match window {
            Some(window) => of(&*metrics.within(window).ok()?),
            None => of(metrics),
        }
    }

    /// Returns the name in digests: the source text, truncated as all names in digests.
    pub fn key(&self) -> String {
        truncated_name(&self.text)
    }

    /// Returns whether less or more is better.
    pub const fn direction(&self) -> Direction {
        match &self.kind {
            RequestKind::Metric { metric, .. } => metric.direction,
            RequestKind::Findings(..) => Direction::Lower,
        }
    }

    /// Returns the metric, if it is one, and the variability between runs. Shares and rates depend on time, so
    /// they are timed; counts are counted.
    pub fn class(&self) -> (Option<&'static Metric>, Variability) {
        match &self.kind {
            RequestKind::Metric {
                statistic: Some(Statistic::Share | Statistic::Rate),
                metric,
                ..
            } => (Some(*metric), Variability::Timed),
            RequestKind::Metric {
                statistic: Some(Statistic::Count),
                metric,
                ..
            } => (Some(*metric), Variability::Counted),
            RequestKind::Metric { metric, .. } => (Some(*metric), metric.class),
            RequestKind::Findings(..) => (None, Variability::Timed),
        }
    }

    /// Returns whether the value grows with the work that the program does.
    pub fn is_total(&self) -> bool {
        match &self.kind {
            RequestKind::Metric {
                metric, statistic, ..
            } => {
                metric.unit != Unit::Share
                    && matches!(
                        statistic,
                        None | Some(Statistic::Sum) | Some(Statistic::Count)
                    )
            }
            RequestKind::Findings(..) => false,
        }
    }
}
