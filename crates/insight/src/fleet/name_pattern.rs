//! Labels in file names, by a pattern.

use std::collections::BTreeMap;

/// Pattern such as `{app}-{version}-{host}-{day}.digest`.
///
/// It is matched with the end of a path, with as many folders as it has. Each field takes as few characters as
/// possible, and no slash. A `version` begins with a digit, or `v` and a digit; a `day` is `2026-01-31` or
/// `20260131`. `*` matches any text that is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePattern {
    parts: Vec<Part>,
    /// Number of folders in front of the file name.
    folders: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// Field by key; empty for `*`.
    Field(String),
}

impl NamePattern {
    /// Parses a pattern.
    ///
    /// # Errors
    ///
    /// If a brace is not closed, a field has no name, or there is no field.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '*']) {
            if at > 0 {
                parts.push(Part::Text(rest[..at].to_owned()));
            }
            rest = &rest[at..];
            let (key, after) = match rest.strip_prefix('{') {
                None => ("", &rest[1..]),
                Some(inside) => {
                    let end = inside.split_once('}');
                    let (key, after) =
                        end.ok_or_else(|| format!("a brace is not closed in {text}"))?;
                    if key.trim().is_empty() {
                        return Err(format!("a field without a name in {text}"));
                    }
                    (key.trim(), after)
                }
            };
            parts.push(Part::Field(key.to_owned()));
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        if parts.iter().all(|part| matches!(part, Part::Text(_))) {
            return Err(format!("{text} has no field such as {{version}}"));
        }
        let folders = text.matches('/').count();
        Ok(Self { parts, folders })
    }

    /// Returns the labels in a path; `None` if it does not match.
    pub fn labels(&self, path: &str) -> Option<BTreeMap<String, String>> {
        let path = path.replace('\\', "/");
        let mut starts = path
            .match_indices('/')
            .map(|(at, _)| at + 1)
            .collect::<Vec<_>>();
        starts.insert(0, 0);
        let name = &path[*starts.iter().rev().nth(self.folders)?..];
        let mut failed = vec![false; self.parts.len() * (name.len() + 1)];
        let mut values = Vec::new();
        self.matches(name, 0, 0, &mut failed, &mut values).then(|| {
            values.reverse();
            values.into_iter().collect()
        })
    }

    /// Matches the parts from `part` on with the text from byte `from` on, and collects the fields, last one first.
    /// `failed` marks what has been tried, so that the time is at most quadratic.
    fn matches(
        &self,
        text: &str,
        part: usize,
        from: usize,
        failed: &mut [bool],
        values: &mut Vec<(String, String)>,
    ) -> bool {
        let Some(first) = self.parts.get(part) else {
            return from == text.len();
        };
        let tried = part * (text.len() + 1) + from;
        if failed[tried] {
            return false;
        }
        let rest = &text[from..];
        let is_match = match first {
            Part::Text(literal) => {
                rest.starts_with(literal.as_str())
                    && self.matches(text, part + 1, from + literal.len(), failed, values)
            }
            Part::Field(key) => {
                let ends = rest.char_indices().map(|(at, c)| at + c.len_utf8());
                let mut ends = ends.take_while(|end| !rest[..*end].ends_with('/'));
                ends.any(|end| {
                    let value = &rest[..end];
                    let is_found = is_value(key, value)
                        && self.matches(text, part + 1, from + end, failed, values);
                    if is_found && !key.is_empty() {
                        values.push((key.clone(), value.to_owned()));
                    }
                    is_found
                })
            }
        };
        failed[tried] = !is_match;
        is_match
    }
}

/// Returns whether a field can have a value.
fn is_value(key: &str, value: &str) -> bool {
    match key {
        "version" => value
            .strip_prefix('v')
            .unwrap_or(value)
            .starts_with(|c: char| c.is_ascii_digit()),
        "day" => {
            let form: String = value
                .chars()
                .map(|c| if c.is_ascii_digit() { '0' } else { c })
                .collect();
            matches!(form.as_str(), "0000-00-00" | "00000000")
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pattern: &str, path: &str) -> Option<String> {
        let pattern = NamePattern::parse(pattern).expect("a pattern");
        let labels = pattern.labels(path)?;
        let labels: Vec<String> = labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        Some(labels.join(" "))
    }

    #[test]
    fn fields_are_found() {
        let all = "{app}-{version}-{host}-{day}.digest";
        assert_eq!(
            labels(all, "x/my-app-1.2-rc1-h-7-2026-01-02.digest").as_deref(),
            Some("app=my-app day=2026-01-02 host=rc1-h-7 version=1.2")
        );
        assert_eq!(labels(all, "my-app.digest"), None);
        assert_eq!(
            labels("{host}/{app}-*.json", "a/h1/shop-77.json").as_deref(),
            Some("app=shop host=h1")
        );
        assert_eq!(labels("{host}/{app}", "shop"), None);
        assert_eq!(labels("{app}", "größe").as_deref(), Some("app=größe"));
        assert_eq!(labels("{a}b{c}", "a/b/xbby").as_deref(), Some("a=x c=by"));
    }

    #[test]
    fn wrong_patterns_are_refused() {
        for (pattern, why) in [
            ("{app", "not closed"),
            ("{}", "without a name"),
            ("run.digest", "has no field"),
        ] {
            let error = NamePattern::parse(pattern).expect_err("no pattern");
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn no_name_takes_long() {
        let pattern = format!("{}x", "{a}-".repeat(20));
        assert_eq!(labels(&pattern, &"-".repeat(255)), None);
    }
}
