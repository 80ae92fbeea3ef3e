//! Advised flags as input to `eventscope try`, which measures them.

use std::ffi::{OsStr, OsString};

use crate::command_line::{CommandLine, setting};
use crate::finding::{AdviceKind, Finding};
use analysis::process::Process;
use model::sorting::CompactSort;

/// Returns the command `eventscope try -- PROGRAM ARGUMENTS`, without the options about the log; `None` unless a
/// finding advises a flag that it can measure and the log names the program.
pub(crate) fn try_command(findings: &[Finding], process: &Process) -> Option<String> {
    let program = process.program.as_deref().filter(|name| !name.is_empty())?;
    if !advised_flags(findings).any(|(_, flag)| is_measurable(flag)) {
        return None;
    }
    let arguments: Vec<OsString> = process.arguments.iter().map(OsString::from).collect();
    let line = CommandLine::parse(&arguments).without_log();
    Some(format!(
        "eventscope try -- {}",
        line.in_shell(OsStr::new(program))
    ))
}

/// Returns the flags that findings advise, most severe finding first.
pub fn advised_flags(findings: &[Finding]) -> impl Iterator<Item = (&Finding, &str)> {
    let mut matter: Vec<&Finding> = findings.iter().filter(|one| one.is_significant()).collect();
    matter.sort_small_by_key(|finding| std::cmp::Reverse(finding.severity));
    matter.into_iter().flat_map(|finding| {
        let advised = finding
            .tries
            .iter()
            .filter(|one| one.kind == AdviceKind::Flag);
        advised.filter_map(move |one| Some((finding, one.flag.as_deref()?)))
    })
}

/// Returns whether `eventscope try` can measure at least one of the flags in the text.
fn is_measurable(text: &str) -> bool {
    let mut all = alternatives(text).into_iter().flatten();
    all.any(|flag| setting(&flag).is_some())
}

/// Splits an advised text into alternatives: `-A64m -n4m` is one of two flags, `-A16m, -A64m` are two of one flag
/// each.
pub fn alternatives(text: &str) -> Vec<Vec<String>> {
    let is_flag = |word: &&str| word.starts_with('-');
    let flags = |part: &str| -> Vec<String> {
        let words = part.split_whitespace().filter(is_flag);
        words.map(str::to_owned).collect()
    };
    let parts = text.split(',').flat_map(|part| part.split(" or "));
    let all = parts.map(flags);
    all.filter(|flags: &Vec<String>| !flags.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::finding::{Advice, Axis, Severity};

    use super::*;

    fn finding(flag: &'static str) -> Finding {
        let mut finding = Finding::new("rule", Axis::Time, "A title".to_owned());
        finding.severity = Severity::High;
        finding.tries = vec![Advice::flag(flag, "", "")];
        finding
    }

    #[test]
    fn the_command_runs_the_program_of_the_log() {
        let words = ["5000", "a b", "+RTS", "-N4", "-lg", "-olx.eventlog", "-RTS"];
        let mut process = Process {
            program: Some("./KeepTable".to_owned()),
            arguments: words.map(str::to_owned).to_vec(),
            ..Process::default()
        };
        let command = |process: &Process, flag| try_command(&[finding(flag)], process);
        assert_eq!(
            command(&process, "-qg").as_deref(),
            Some("eventscope try -- ./KeepTable 5000 'a b' +RTS -N4")
        );
        assert_eq!(command(&process, "-threaded"), None);
        process.program = None;
        assert_eq!(command(&process, "-qg"), None);
    }

    #[test]
    fn texts_of_flags() {
        assert_eq!(alternatives("-A4m, -A16m or -A64m").len(), 3);
        assert_eq!(alternatives("-A64m -n4m"), [["-A64m", "-n4m"]]);
        assert!(is_measurable("-threaded, -N4") && !is_measurable("-threaded"));
    }
}
