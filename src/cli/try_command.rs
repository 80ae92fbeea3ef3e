//! The command that measures what findings advise, to be copied from their text.

use std::ffi::{OsStr, OsString};

use super::try_candidates::{can_be_tried, flags_of};
use super::try_options::CommandLine;
use analysis::process::Process;
use insight::Finding;

/// `eventscope try -- PROGRAM ARGUMENTS`, if a finding advises a flag that it can measure and the log names the program.
/// The options of the log itself are left out.
pub(super) fn try_command(findings: &[Finding], process: &Process) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use insight::finding::{Axis, Severity, Try};

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
}
