//! What measures the flags that findings advise: `eventscope try`.

use std::ffi::{OsStr, OsString};

use crate::command_line::{CommandLine, setting};
use crate::finding::{Finding, TryKind};
use analysis::process::Process;

/// `eventscope try -- PROGRAM ARGUMENTS`, if a finding advises a flag that it can measure and the log names the program.
/// The options of the log itself are left out.
pub(crate) fn try_command(findings: &[Finding], process: &Process) -> Option<String> {
    let program = process.program.as_deref().filter(|name| !name.is_empty())?;
    if !flags_of(findings).any(|(_, flag)| can_be_tried(flag)) {
        return None;
    }
    let arguments: Vec<OsString> = process.arguments.iter().map(OsString::from).collect();
    let line = CommandLine::parse(&arguments).without_log();
    Some(format!(
        "eventscope try -- {}",
        line.in_shell(OsStr::new(program))
    ))
}

/// The flags that findings advise, the gravest finding first.
pub fn flags_of(findings: &[Finding]) -> impl Iterator<Item = (&Finding, &str)> {
    let mut matter: Vec<&Finding> = findings.iter().filter(|one| one.matters()).collect();
    matter.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    matter.into_iter().flat_map(|finding| {
        let advised = finding.tries.iter().filter(|one| one.kind == TryKind::Flag);
        advised.filter_map(move |one| Some((finding, one.flag.as_deref()?)))
    })
}

/// Whether a flag is one that `eventscope try` measures, or at least one of several is.
fn can_be_tried(text: &str) -> bool {
    let mut all = alternatives(text).into_iter().flatten();
    all.any(|flag| setting(&flag).is_some())
}

/// The alternatives in a text of flags: `-A64m -n4m` is one of two flags, `-A16m, -A64m` are two of one.
#[must_use]
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
    use crate::finding::{Axis, Severity, Try};

    use super::*;

    fn finding(flag: &'static str) -> Finding {
        let mut finding = Finding::new("rule", Axis::Time, "A title".to_owned());
        finding.severity = Severity::High;
        finding.tries = vec![Try::flag(flag, "", "")];
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
        assert!(can_be_tried("-threaded, -N4") && !can_be_tried("-threaded"));
    }
}
