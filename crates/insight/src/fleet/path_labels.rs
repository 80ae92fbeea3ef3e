//! Labels in the folder names of a path.

use std::collections::BTreeMap;

/// Folder value that stands for a missing one, as Hive writes it.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// Returns the labels of folders that are named `key=value`, with Hive's escapes (`%3A`) resolved. The innermost
/// folder with a key counts.
pub fn path_labels(path: &str) -> BTreeMap<String, String> {
    let folders = path
        .rsplit_once(['/', '\\'])
        .map_or("", |(folders, _)| folders);
    let pairs = folders
        .split(['/', '\\'])
        .filter_map(|folder| folder.split_once('='));
    let is_label =
        |(key, value): &(&str, &str)| !key.is_empty() && !value.is_empty() && *value != MISSING;
    let labels = pairs.filter(is_label);
    labels
        .map(|(key, value)| (unescaped(key), unescaped(value)))
        .collect()
}

/// Resolves `%` followed by two hexadecimal digits; what is no escape stays.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let is_hex = |digits: &&str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let code = digits
            .filter(is_hex)
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(code) if *first == b'%' => {
                bytes.push(code);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_labels() {
        let labels = path_labels(
            "/data/app=shop/version=1%2F2/host=__HIVE_DEFAULT_PARTITION__/day=2026-01-02/a=b.digest",
        );
        let labels: Vec<(&str, &str)> = labels
            .iter()
            .map(|(key, value)| (&**key, &**value))
            .collect();
        assert_eq!(
            labels,
            [("app", "shop"), ("day", "2026-01-02"), ("version", "1/2")]
        );
        assert!(path_labels("a=b.digest").is_empty());
        assert_eq!(unescaped("100%, %zz %4"), "100%, %zz %4");
    }
}
