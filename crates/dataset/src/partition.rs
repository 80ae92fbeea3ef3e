//! Partition values: where they come from, and how they are written in folder names.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use chrono::NaiveDate;

use crate::{Error, tables};
use analysis::process::Process;
use insight::fleet::{NamePattern, path_labels};
use session::Session;

/// Name of the folder of logs without a value, as Hive writes it.
pub const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// Keys whose values are in logs, with what they are.
pub const BUILT_IN_KEYS: [(&str, &str); 5] = [
    ("app", "name of the program, without its folder"),
    ("arguments", "arguments of the program"),
    ("day", "date at which the log begins (UTC)"),
    ("ghc", "version of GHC"),
    ("host", "HOSTNAME in the environment of the program"),
];

/// Longest folder name in bytes, with the key: file systems allow 255.
const MAX_FOLDER_BYTES: usize = 240;

/// Sources of partition values, besides what is in logs.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Values for all logs, by key.
    set: BTreeMap<String, String>,
    /// Names of environment variables, by key.
    variables: BTreeMap<String, String>,
    /// Patterns of file names or paths; the first that matches counts.
    patterns: Vec<NamePattern>,
    pattern_keys: BTreeSet<String>,
}

impl Rules {
    /// Creates rules from pairs of keys and values, pairs of keys and environment variables, and patterns such as
    /// `{host}_{app}-{version}.eventlog`.
    ///
    /// # Errors
    /// If a pattern is invalid, a day is no date, or a key has no name.
    pub fn new(
        set: &[(String, String)],
        variables: &[(String, String)],
        patterns: &[String],
    ) -> Result<Self, Error> {
        let refused = |why: String| Error::Refused(why);
        let mut rules = Self::default();
        for (key, value) in set {
            let value = normalized(key, value).ok_or_else(|| {
                refused(format!(
                    "--set {key}={value}: write a date such as 2026-01-31"
                ))
            })?;
            rules.set.insert(key.clone(), value);
        }
        rules.variables = variables.iter().cloned().collect();
        for pattern in patterns {
            let parsed = NamePattern::parse(pattern)
                .map_err(|why| refused(format!("--name-pattern {pattern}: {why}")))?;
            rules.patterns.push(parsed);
            let fields = pattern.split('{').skip(1);
            let fields = fields.filter_map(|field| field.split_once('}'));
            let keys = fields.map(|(key, _)| key.trim().to_owned());
            rules.pattern_keys.extend(keys);
        }
        Ok(rules)
    }

    /// Checks that there is a source for each key.
    ///
    /// # Errors
    /// If a key has none: neither here, nor in logs, nor in a folder `key=value` above one of the logs. Or if it
    /// is no name for a key.
    pub fn check<P: AsRef<Path>>(&self, keys: &[String], logs: &[P]) -> Result<(), Error> {
        check_names(keys)?;
        let is_in_log = |key: &str| BUILT_IN_KEYS.iter().any(|(name, _)| *name == key);
        let folder = |key: &str| {
            let key = format!("{key}=");
            let has = |log: &P| {
                let mut folders = log.as_ref().iter();
                folders.any(|folder| folder.to_string_lossy().starts_with(&key))
            };
            logs.iter().any(has)
        };
        let has_source = |key: &String| {
            self.set.contains_key(key)
                || self.variables.contains_key(key)
                || self.pattern_keys.contains(key)
                || is_in_log(key)
                || folder(key)
        };
        match keys.iter().find(|key| !has_source(key)) {
            None => Ok(()),
            Some(key) => {
                let known = BUILT_IN_KEYS.map(|(name, _)| name).join(", ");
                Err(Error::Refused(format!(
                    "no log says what its {key} is: add --set {key}=VALUE, --env {key}=VARIABLE, or --name-pattern \
                     with {{{key}}}. Logs themselves have {known}"
                )))
            }
        }
    }

    /// Returns the values of a log in the order of `keys`: from `--set`, else a pattern, else a folder `key=value`
    /// of its path, else the environment, else the log.
    pub(crate) fn values(
        &self,
        keys: &[String],
        path: &Path,
        session: &Session,
        clock_origin_ns: Option<u64>,
    ) -> Vec<Option<String>> {
        let text = path.to_string_lossy();
        let of_name = self
            .patterns
            .iter()
            .find_map(|pattern| pattern.labels(&text));
        let of_name = of_name.unwrap_or_default();
        let of_folders = path_labels(&text);
        let environment = session.environment();
        let value = |key: &String| {
            let named = [&of_name, &of_folders].into_iter();
            let named = named.filter_map(|labels| normalized(key, labels.get(key)?));
            let of_environment = || {
                let variable = self.variables.get(key)?;
                normalized(key, variable_value(&environment, variable)?)
            };
            let value = self.set.get(key).cloned();
            let value = value.or_else(|| named.into_iter().next());
            let value = value.or_else(of_environment);
            let value = value.or_else(|| of_log(key, session, &environment, clock_origin_ns));
            value.filter(|value| !value.is_empty() && value != MISSING)
        };
        keys.iter().map(value).collect()
    }
}

/// Returns a value as it is written, without spaces around it; `None` for a day that is no date.
fn normalized(key: &str, value: &str) -> Option<String> {
    let value = value.trim();
    if key != "day" {
        return Some(value.to_owned());
    }
    let forms = ["%Y-%m-%d", "%Y%m%d"];
    let date = forms
        .iter()
        .find_map(|form| NaiveDate::parse_from_str(value, form).ok())?;
    Some(date.format("%Y-%m-%d").to_string())
}

/// Returns the value of a variable. In the log of several processes, names of variables are followed by the process.
fn variable_value<'a>(environment: &'a [(String, String)], variable: &str) -> Option<&'a str> {
    let of_process = |name: &str| {
        let rest = name.strip_prefix(variable);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    };
    let mut found = environment.iter().filter(|(name, _)| of_process(name));
    found.next().map(|(_, value)| value.as_str())
}

/// Returns the value of a built-in key.
fn of_log(
    key: &str,
    session: &Session,
    environment: &[(String, String)],
    clock_origin_ns: Option<u64>,
) -> Option<String> {
    match key {
        "app" => session.overview().program,
        "arguments" => Some(arguments(session)),
        "day" => {
            let begin = session.recording().info.begin();
            let unix_ns = clock_origin_ns?.saturating_add(begin.0);
            let seconds = i64::try_from(unix_ns / 1_000_000_000).ok()?;
            let time = chrono::DateTime::from_timestamp(seconds, 0)?;
            Some(time.date_naive().format("%Y-%m-%d").to_string())
        }
        "ghc" => session.overview().ghc,
        "host" => variable_value(environment, "HOSTNAME").map(str::to_owned),
        _ => None,
    }
}

/// Returns the arguments of the program as a shell takes them, those for the runtime too.
fn arguments(session: &Session) -> String {
    let process = Process {
        program: None,
        ..session.recording().info.process()
    };
    process.command_line()
}

/// Checks names of keys: small letters, digits and underscores, no name twice, and no name of a column.
pub(crate) fn check_names(keys: &[String]) -> Result<(), Error> {
    let refuse = |why: String| Err(Error::Refused(why));
    if keys.is_empty() {
        return refuse("name at least one partition key, such as --partition app,day".to_owned());
    }
    let is_name = |key: &str| {
        key.starts_with(|c: char| c.is_ascii_lowercase())
            && key
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let mut known = BTreeSet::new();
    for key in keys {
        if !is_name(key) {
            return refuse(format!(
                "the partition key “{key}” is not a name of small letters, digits and underscores"
            ));
        }
        if !known.insert(key) {
            return refuse(format!("the partition key {key} is named twice"));
        }
        // In `runs`, the column has the same value.
        let mut columns = tables::TABLES.iter().flat_map(|table| table.column_names());
        if key != "ghc" && columns.any(|column| column == key) {
            return refuse(format!(
                "{key} is a column of the tables: choose another name for the partition key"
            ));
        }
    }
    Ok(())
}

/// Returns the path of a partition, such as `app=shop/day=2026-01-31`.
pub(crate) fn path(keys: &[String], values: &[Option<String>]) -> String {
    let folder = |(key, value): (&String, &Option<String>)| {
        let value = value.as_deref().map_or(MISSING.to_owned(), escaped);
        shortened(format!("{key}={value}"))
    };
    let folders: Vec<String> = keys.iter().zip(values).map(folder).collect();
    folders.join("/")
}

/// Escapes a value as Hive does: control characters and those that mean something in paths become `%` and two
/// hexadecimal digits.
pub fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        let has_meaning = "\"#%'*/:=?\\{}[]^<>|".contains(c);
        if c.is_ascii() && (c.is_ascii_control() || has_meaning) {
            // Writing to a text cannot fail.
            let _ = write!(text, "%{:02X}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    text
}

/// Shortens a folder name that is too long for file systems; a hash of what it was keeps it apart from others.
fn shortened(folder: String) -> String {
    if folder.len() <= MAX_FOLDER_BYTES {
        return folder;
    }
    let mut end = MAX_FOLDER_BYTES - 20;
    // Neither within a character nor within an escape.
    while !folder.is_char_boundary(end) || folder[..end].bytes().rev().take(2).any(|b| b == b'%') {
        end -= 1;
    }
    let hash = crate::log_input::hash_text(&folder);
    format!("{}-{}", &folder[..end], &hash[..16])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_escaped_as_in_hive() {
        assert_eq!(escaped("1.2-rc1 größe"), "1.2-rc1 größe");
        assert_eq!(escaped("a/b=c:d%\n\0"), "a%2Fb%3Dc%3Ad%25%0A%00");
        let keys = ["app", "day"].map(str::to_owned);
        let values = [Some("../x".to_owned()), None];
        assert_eq!(
            path(&keys, &values),
            "app=..%2Fx/day=__HIVE_DEFAULT_PARTITION__"
        );
        let long = |last: &str| path(&keys[..1], &[Some("/ü".repeat(200) + last)]);
        assert!(long("").len() <= MAX_FOLDER_BYTES);
        assert_ne!(long("a"), long("b"));
        let labels = path_labels(&format!("{}/x", path(&keys, &values)));
        assert_eq!(labels.get("app").map(String::as_str), Some("../x"));
    }

    #[test]
    fn keys_have_names_of_their_own() {
        let check = |keys: &[&str]| {
            let keys: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
            check_names(&keys).map_err(|error| error.to_string())
        };
        assert_eq!(check(&["app", "version", "ghc", "day"]), Ok(()));
        for (keys, why) in [
            (&["App"][..], "small letters"),
            (&["a/b"], "small letters"),
            (&["_a"], "small letters"),
            (&["app", "app"], "twice"),
            (&["run"], "a column"),
            (&["name"], "a column"),
            (&[], "at least one"),
        ] {
            let error = check(keys).expect_err("refused");
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_key_needs_a_source() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let keys = ["app", "version"].map(str::to_owned);
        let check = |rules: &Rules, log: &str| rules.check(&keys, &[log]).is_ok();
        let none = Rules::default();
        assert!(!check(&none, "a.eventlog"));
        assert!(check(&none, "x/version=1/a.eventlog"));
        let set = Rules::new(&[pair("version", "1")], &[], &[]).expect("rules");
        let variable = Rules::new(&[], &[pair("version", "V")], &[]).expect("rules");
        let pattern = "{app}-{version}.eventlog".to_owned();
        let named = Rules::new(&[], &[], &[pattern]).expect("rules");
        assert!(check(&set, "a") && check(&variable, "a") && check(&named, "a"));
        let error = none.check(&keys, &["a"]).expect_err("refused").to_string();
        assert!(error.contains("--set version=VALUE"), "{error}");
        assert!(Rules::new(&[pair("day", "today")], &[], &[]).is_err());
        assert_eq!(normalized("day", "20260131").as_deref(), Some("2026-01-31"));
        assert_eq!(normalized("day", "2026-02-31"), None);
    }
}
