//! Parses test counts in the reports of cargo, Node.js and Playwright.

use std::ops::AddAssign;

/// Numbers of passed and failed tests.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Counts {
    pub(super) passed: u32,
    pub(super) failed: u32,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// Parses `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
pub(super) fn libtest_counts(line: &str) -> Option<Counts> {
    let (_, counts) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let count = |word| {
        let part = counts.split("; ").find(|part| part.ends_with(word))?;
        part.split(' ').next()?.parse().ok()
    };
    Some(Counts {
        passed: count(" passed")?,
        failed: count(" failed")?,
    })
}

/// Parses the lines `# pass 3` and `# fail 1` at the end of a TAP report; `# cancelled` tests count as failed.
pub(super) fn tap_counts(report: &str) -> Option<Counts> {
    let count = |word: &str| {
        let mut lines = report.lines().rev();
        let line = lines.find_map(|line| line.strip_prefix("# ")?.strip_prefix(word))?;
        line.trim().parse().ok()
    };
    Some(Counts {
        passed: count("pass ")?,
        failed: count("fail ")? + count("cancelled ")?,
    })
}

/// Parses the `stats` at the end of Playwright's report. A test that passed on retry counts as passed.
pub(super) fn playwright_counts(report: &str) -> Option<Counts> {
    let stats = &report[report.rfind("\"stats\":")?..];
    let count = |name: &str| -> Option<u32> {
        let (_, rest) = stats.split_once(&format!("\"{name}\":"))?;
        let digits = rest.trim_start();
        let end = digits.find(|c: char| !c.is_ascii_digit())?;
        digits[..end].parse().ok()
    };
    Some(Counts {
        passed: count("expected")? + count("flaky")?,
        failed: count("unexpected")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_native_tests_are_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s";
        let counts = Counts {
            passed: 12,
            failed: 3,
        };
        assert_eq!(libtest_counts(line), Some(counts));
        assert_eq!(libtest_counts("test tests::a ... ok"), None);
    }

    #[test]
    fn results_of_browser_tests_are_counted() {
        let report = r#"{ "suites": [{ "title": "\"stats\":" }], "stats": { "duration": 1.5,
            "expected": 4, "skipped": 1, "unexpected": 2, "flaky": 1 } }"#;
        let counts = Counts {
            passed: 5,
            failed: 2,
        };
        assert_eq!(playwright_counts(report), Some(counts));
        assert_eq!(playwright_counts("{}"), None);
    }

    #[test]
    fn results_of_scripts_are_counted() {
        let report = "# pass 99\nok 1\n1..3\n# tests 3\n# pass 1\n# fail 1\n# cancelled 1\n";
        let counts = Counts {
            passed: 1,
            failed: 2,
        };
        assert_eq!(tap_counts(report), Some(counts));
        assert_eq!(tap_counts("ok 1"), None);
    }
}
