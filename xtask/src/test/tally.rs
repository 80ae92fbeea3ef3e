//! Counts the tests and checks of one run.

use crate::process::{Failure, Result};
use crate::steps::Steps;
use crate::test::counts::Counts;

/// Test counts of the steps so far.
#[derive(Debug)]
pub(super) struct Tally<'s> {
    steps: &'s Steps,
    pub(super) counts: Counts,
    /// Names of the steps that failed.
    pub(super) failed_steps: Vec<String>,
}

impl<'s> Tally<'s> {
    pub(super) fn new(steps: &'s Steps) -> Self {
        Self {
            steps,
            counts: Counts::default(),
            failed_steps: Vec::new(),
        }
    }

    /// Runs a step without tests: only its failure counts. Returns whether it succeeded.
    pub(super) fn check(&mut self, name: &str, step: impl FnOnce() -> Result<()>) -> bool {
        let outcome = self.steps.run(name, step);
        self.record(name, outcome)
    }

    /// Counts the outcome of a step without tests that ran elsewhere.
    pub(super) fn record(&mut self, name: &str, outcome: Result<()>) -> bool {
        if let Err(failure) = &outcome {
            eprintln!("error: {failure}");
            self.counts.failed += 1;
            self.failed_steps.push(name.to_owned());
        }
        outcome.is_ok()
    }

    /// Runs a step that returns test counts and whether it succeeded. A step that fails without a failed test (it
    /// did not compile, or crashed) counts as one failure.
    pub(super) fn tests(&mut self, name: &str, step: impl FnOnce() -> Result<(Counts, bool)>) {
        let mut counts = Counts::default();
        let outcome = self.steps.run(name, || {
            let (counted, succeeded) = step()?;
            counts = counted;
            match succeeded {
                true => Ok(()),
                false => Err(Failure::new(format!("{name} failed"))),
            }
        });
        let reported = counts.failed;
        self.counts += counts;
        if !self.record(name, outcome) && reported > 0 {
            // The failed tests count already.
            self.counts.failed -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_breaks_counts_as_one_failure() {
        let steps = Steps::silent();
        let mut tally = Tally::new(&steps);
        assert!(!tally.check("fmt", || Err(Failure::new("untidy"))));
        assert!(tally.check("clippy", || Ok(())));
        let counts = |passed, failed| Counts { passed, failed };
        tally.tests("crashed", || Ok((counts(0, 0), false)));
        tally.tests("native", || Ok((counts(3, 2), false)));
        tally.tests("browser", || Ok((counts(2, 0), true)));
        tally.tests("not started", || Err(Failure::new("no node")));
        assert_eq!(tally.counts, counts(5, 5));
        assert_eq!(
            tally.failed_steps,
            ["fmt", "crashed", "native", "not started"]
        );
    }
}
