//! Addresses of logs.

use insight::fleet::Fleet;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Pattern of the addresses of logs, such as `https://logs.example/{host}/{run}.eventlog`.
///
/// Fields: `{run}` or `{name}` is the file name without extension, `{path}` the path of the log, or else of the
/// digest, `{digest}` that of the digest, `{file}` its file name; any label by its key. Values are percent-encoded;
/// in paths, slashes stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkPattern(String);

/// Characters that stay in a value: those that are unreserved in addresses.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
/// Characters that stay in a path.
const PATH: &AsciiSet = &VALUE.remove(b'/');

impl LinkPattern {
    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// If its scheme is not http, https or file, or if it has no field.
    pub fn parse(text: &str) -> Result<Self, String> {
        let scheme = text.split_once(':').map(|(scheme, _)| scheme);
        let scheme = scheme.filter(|scheme| !scheme.contains(['/', '{', '?', '#']));
        let is_known = |scheme: &str| {
            ["http", "https", "file"].contains(&scheme.to_ascii_lowercase().as_str())
        };
        if scheme.is_some_and(|scheme| !is_known(scheme)) {
            return Err(format!(
                "links begin with https, http or file, or are relative: {text}"
            ));
        }
        let has_field = text
            .split_once('{')
            .is_some_and(|(_, rest)| rest.contains('}'));
        if !has_field {
            return Err(format!(
                "a link needs a field such as {{run}} or {{path}}: {text}"
            ));
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the pattern as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the address of a run's log; `None` if the run lacks a label, or if a field is unknown.
    pub fn address(&self, fleet: &Fleet, run: usize) -> Option<String> {
        let info = fleet.runs.get(run)?;
        let mut address = String::new();
        let mut rest = self.0.as_str();
        while let Some((text, after)) = rest.split_once('{') {
            address.push_str(text);
            let (key, after) = after.split_once('}')?;
            let (value, kept) = match key {
                "run" | "name" => (info.name.as_str(), VALUE),
                "path" => (info.log.as_deref().unwrap_or(&info.path), PATH),
                "digest" => (info.path.as_str(), PATH),
                "file" => (
                    info.path.rsplit(['/', '\\']).next().unwrap_or_default(),
                    VALUE,
                ),
                _ => (fleet.label(key)?.value(run)?, VALUE),
            };
            address.extend(utf8_percent_encode(value, kept));
            rest = after;
        }
        address.push_str(rest);
        Some(address)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use insight::fleet::{FleetBuilder, RunDigest};

    #[test]
    fn addresses_are_encoded() {
        let mut builder = FleetBuilder::default();
        let labels = BTreeMap::from([("host".to_owned(), "a b/ü".to_owned())]);
        builder.add("logs/x&y.digest", labels, RunDigest::default());
        let fleet = builder.finish();
        let address = |pattern: &str| {
            LinkPattern::parse(pattern)
                .expect("a pattern")
                .address(&fleet, 0)
        };
        assert_eq!(
            address("https://l/{host}/{run}.eventlog").as_deref(),
            Some("https://l/a%20b%2F%C3%BC/x%26y.eventlog")
        );
        assert_eq!(
            address("{path}?{file}").as_deref(),
            Some("logs/x%26y.digest?x%26y.digest")
        );
        assert_eq!(address("{version}"), None);
    }

    #[test]
    fn scripts_are_no_links() {
        for pattern in [
            "javascript:alert('{run}')",
            "data:text/html,{run}",
            "https://logs.example/",
        ] {
            assert!(LinkPattern::parse(pattern).is_err(), "{pattern}");
        }
        for pattern in [
            "HTTPS://x/{run}",
            "../{path}",
            "{path}",
            "view?log={path}",
            "file:///{path}",
        ] {
            assert!(LinkPattern::parse(pattern).is_ok(), "{pattern}");
        }
    }
}
