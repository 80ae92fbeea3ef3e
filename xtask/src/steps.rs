//! Timed steps of a command.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::process::Result;

/// Runs and times the steps of one command; steps may run on several threads.
#[derive(Debug)]
pub(crate) struct Steps {
    begun: Instant,
    prints: bool,
    rows: Mutex<Vec<Row>>,
}

#[derive(Debug)]
struct Row {
    name: String,
    time: Duration,
    succeeded: bool,
}

impl Steps {
    /// Prints a line at the begin and at the end of each step.
    pub(crate) fn printing() -> Self {
        Self {
            begun: Instant::now(),
            prints: true,
            rows: Mutex::default(),
        }
    }

    /// Prints nothing; the caller prints [`Steps::line`] or [`Steps::table`].
    pub(crate) fn silent() -> Self {
        Self {
            prints: false,
            ..Self::printing()
        }
    }

    /// Runs a step to its end and records its time.
    pub(crate) fn run<T>(&self, name: &str, step: impl FnOnce() -> Result<T>) -> Result<T> {
        self.print(name);
        let begun = Instant::now();
        let outcome = step();
        let row = Row {
            name: name.to_owned(),
            time: begun.elapsed(),
            succeeded: outcome.is_ok(),
        };
        let failed = if row.succeeded { "" } else { "failed after " };
        self.print(&format!("{name}: {failed}{:.1} s", row.time.as_secs_f64()));
        self.rows().push(row);
        outcome
    }

    /// Returns whether to print output other than [`Steps::line`].
    pub(crate) fn prints(&self) -> bool {
        self.prints
    }

    fn print(&self, text: &str) {
        if self.prints {
            println!("[{:>5.1} s] {text}", self.begun.elapsed().as_secs_f64());
        }
    }

    /// Formats the times in one line, in the order in which the steps ended:
    /// `6.1 s: cargo 4.0, wasm-bindgen 1.8, site 0.3`.
    pub(crate) fn line(&self) -> String {
        let total = self.begun.elapsed();
        let mut line = format!("{:.1} s", total.as_secs_f64());
        for (index, row) in self.rows().iter().enumerate() {
            let separator = if index == 0 { ":" } else { "," };
            let _ = write!(
                line,
                "{separator} {} {:.1}",
                row.name,
                row.time.as_secs_f64()
            );
        }
        line
    }

    /// Formats one line per finished step, and the total. Concurrent steps overlap.
    pub(crate) fn table(&self) -> String {
        let mut table = String::new();
        for row in self.rows().iter() {
            let mark = if row.succeeded { "" } else { "  failed" };
            let _ = writeln!(
                table,
                "{:>8.1} s  {}{mark}",
                row.time.as_secs_f64(),
                row.name
            );
        }
        let _ = writeln!(
            table,
            "{:>8.1} s  in all",
            self.begun.elapsed().as_secs_f64()
        );
        table
    }

    fn rows(&self) -> std::sync::MutexGuard<'_, Vec<Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Failure;

    #[test]
    fn every_step_is_listed_with_its_outcome() {
        let steps = Steps::silent();
        assert!(steps.run("cargo", || Ok(1)).is_ok());
        assert!(
            steps
                .run("site", || Err::<(), _>(Failure::new("full disk")))
                .is_err()
        );
        assert!(
            steps.line().ends_with(" s: cargo 0.0, site 0.0"),
            "{}",
            steps.line()
        );
        let table = steps.table();
        let rows: Vec<&str> = table.lines().map(str::trim).collect();
        assert_eq!(rows[..2], ["0.0 s  cargo", "0.0 s  site  failed"]);
        assert!(rows[2].ends_with("in all"));
    }
}
