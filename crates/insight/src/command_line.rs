//! Command lines of Haskell programs, with the program's arguments separated from the runtime's options.

use std::ffi::{OsStr, OsString};

/// Arguments of a program and options of its runtime.
///
/// The runtime takes arguments between `+RTS` and `-RTS`. It takes none after `--RTS`, which the program does not
/// see, or after `--`, which it does (GHC's `rts/RtsFlags.c`, `setupRtsFlags`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The program's own arguments before `rest`.
    own: Vec<OsString>,
    /// Runtime options, without `+RTS` and `-RTS`.
    pub options: Vec<String>,
    /// `--` or `--RTS` with everything after it.
    rest: Vec<OsString>,
}

impl CommandLine {
    /// Separates runtime options from the other arguments.
    pub fn parse(arguments: &[OsString]) -> Self {
        let mut line = Self::default();
        let mut is_runtime = false;
        for (index, argument) in arguments.iter().enumerate() {
            match argument.to_str() {
                Some("--" | "--RTS") => {
                    line.rest = arguments[index..].to_vec();
                    break;
                }
                Some("+RTS") => is_runtime = true,
                Some("-RTS") => is_runtime = false,
                _ if is_runtime => line.options.push(argument.to_string_lossy().into_owned()),
                _ => line.own.push(argument.clone()),
            }
        }
        line
    }

    /// Removes options about the log, heap profiles and reports: they cost time, or write files.
    #[must_use]
    pub fn without_log(mut self) -> Self {
        self.options
            .retain(|option| !is_about_log(option) && !is_about_reports(option));
        self
    }

    /// Adds flags, replacing options with the same setting.
    #[must_use]
    pub fn with(mut self, flags: &[String]) -> Self {
        self.options = with_flags(&self.options, flags);
        self
    }

    /// Returns the arguments for starting the program.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut arguments = self.own.clone();
        if !self.options.is_empty() {
            arguments.push("+RTS".into());
            arguments.extend(self.options.iter().map(OsString::from));
            if !self.rest.is_empty() {
                arguments.push("-RTS".into());
            }
        }
        arguments.extend(self.rest.iter().cloned());
        arguments
    }

    /// Returns program and arguments quoted for a shell.
    pub fn in_shell(&self, program: &OsStr) -> String {
        let words = std::iter::once(program.to_os_string()).chain(self.arguments());
        let quoted = words.map(|word| {
            let word = word.to_string_lossy();
            analysis::process::shell_word(&word).into_owned()
        });
        quoted.collect::<Vec<_>>().join(" ")
    }
}

/// Appends flags to options, replacing options with the same setting.
pub fn with_flags(options: &[String], flags: &[String]) -> Vec<String> {
    let sets_same = |option: &String| {
        let setting = setting(option);
        setting.is_some() && flags.iter().any(|flag| self::setting(flag) == setting)
    };
    let kept = options.iter().filter(|option| !sets_same(option));
    kept.chain(flags).cloned().collect()
}

/// Returns whether an option enables the log or names its file (`-l`, `-lsg`, `-olFILE`).
pub fn is_about_log(option: &str) -> bool {
    option.starts_with("-l") || option.starts_with("-ol")
}

/// Returns whether an option is about heap profiles (`-h`, `-i`), cost-centre profiles (`-p`, `-P`) or the report at the
/// end (`-s`, `-S`, `-t`).
fn is_about_reports(option: &str) -> bool {
    let mut prefixes = ["-h", "-i", "-p", "-P", "-s", "-S", "-t"].into_iter();
    prefixes.any(|prefix| option.starts_with(prefix))
}

/// Returns the setting that a runtime flag changes, for flags on speed and memory; `None` for all others, such as
/// those on logging. Of two flags with the same setting, the later one takes effect.
pub fn setting(flag: &str) -> Option<&'static str> {
    /// Settings by flag prefix; longer prefixes come before shorter ones.
    const SETTINGS: [(&str, &str); 23] = [
        ("--nonmoving-gc", "old generation"),
        ("--copying-gc", "old generation"),
        ("-xn", "old generation"),
        ("-c", "old generation"),
        ("-AL", "large objects"),
        ("-A", "allocation area"),
        ("-n", "chunks"),
        ("-maxN", "capabilities"),
        ("-N", "capabilities"),
        ("-qg", "parallel collection"),
        ("-qb", "balancing"),
        ("-qn", "collecting threads"),
        ("-qi", "idle collectors"),
        ("-qm", "migration"),
        ("-qa", "affinity"),
        ("-Fd", "return of memory"),
        ("-F", "growth"),
        ("-G", "generations"),
        ("-Iw", "pause of idle collection"),
        ("-I", "idle collection"),
        ("-C", "time slice"),
        ("-H", "suggested heap"),
        ("-kc", "stack chunks"),
    ];
    let known = SETTINGS.iter().find(|(start, _)| flag.starts_with(start));
    known.map(|(_, setting)| *setting)
}

/// Normalizes a flag: sizes in lower case, `-N` with the number of cores, `-xn` in its long form.
pub fn normalized(flag: &str, cores: usize) -> String {
    match flag {
        "-N" => format!("-N{cores}"),
        "-xn" => "--nonmoving-gc".to_owned(),
        _ if flag.starts_with("-A") || flag.starts_with("-n") => {
            let (start, size) = flag.split_at(2);
            format!("{start}{}", size.to_ascii_lowercase())
        }
        _ => flag.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> CommandLine {
        let words: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
        CommandLine::parse(&words)
    }

    fn words(line: &CommandLine) -> String {
        let words = line.arguments();
        let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
        words.join(" ")
    }

    #[test]
    fn options_of_the_runtime_stand_between_their_marks() {
        for (given, options, again) in [
            ("a b", "", "a b"),
            ("a +RTS -N2 -A1m -RTS b", "-N2 -A1m", "a b +RTS -N2 -A1m"),
            ("+RTS -N2 a +RTS -s", "-N2 a -s", "+RTS -N2 a -s"),
            ("a -- +RTS -N2", "", "a -- +RTS -N2"),
            ("+RTS -N2 -RTS a -- b", "-N2", "a +RTS -N2 -RTS -- b"),
            ("+RTS -N2 --RTS +RTS", "-N2", "+RTS -N2 -RTS --RTS +RTS"),
            ("a -RTS b +RTS", "", "a b"),
        ] {
            let line = line(given);
            assert_eq!(line.options.join(" "), options, "{given}");
            assert_eq!(words(&line), again, "{given}");
        }
    }

    #[test]
    fn flags_replace_those_that_set_the_same() {
        let given = line("x +RTS -A1m -N4 -lsg -olx.eventlog -hT -i0.1 -sx.txt -T");
        let given = given.without_log();
        assert_eq!(words(&given), "x +RTS -A1m -N4 -T");
        let flags = ["-A64m", "-n4m"].map(str::to_owned);
        assert_eq!(
            words(&given.clone().with(&flags)),
            "x +RTS -N4 -T -A64m -n4m"
        );
        assert_eq!(
            words(&given.with(&["-qg".to_owned()])),
            "x +RTS -A1m -N4 -T -qg"
        );
    }

    #[test]
    fn settings() {
        assert_eq!(setting("-A16m"), setting("-A1m"));
        assert_ne!(setting("-AL1m"), setting("-A1m"));
        assert_eq!(setting("--nonmoving-gc"), setting("-c"));
        assert_ne!(setting("-qg"), setting("-qn4"));
        for other in [
            "-threaded",
            "-feager-blackholing",
            "-hT",
            "-i1",
            "-l",
            "-T",
            "-p",
        ] {
            assert_eq!(setting(other), None, "{other}");
        }
    }

    #[test]
    fn one_flag_has_one_form() {
        assert_eq!(normalized("-A64M", 4), "-A64m");
        assert_eq!(normalized("-N", 4), "-N4");
        assert_eq!(normalized("-xn", 4), "--nonmoving-gc");
        assert_eq!(normalized("-qg", 4), "-qg");
    }

    #[test]
    fn shells_read_it_back() {
        let line = CommandLine::parse(&["it's".into(), "+RTS".into(), "-N2".into()]);
        assert_eq!(line.in_shell(OsStr::new("./x")), r"./x 'it'\''s' +RTS -N2");
    }
}
