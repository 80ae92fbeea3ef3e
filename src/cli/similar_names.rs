//! Names similar to an unknown one in an option.

/// Returns the names most similar to a text as the end of a message; empty if there are none.
pub(super) fn similar_names<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    match nearest_names(text, names).join(", ") {
        none if none.is_empty() => String::new(),
        names => format!("; similar names: {names}"),
    }
}

/// Returns the names most similar to a text, best first.
fn nearest_names<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    const MAX_NAMES: usize = 5;
    const MIN_SIMILARITY: f64 = 0.7;
    const LONGEST: usize = 64;
    if text.len() > LONGEST {
        return Vec::new();
    }
    let text = text.to_lowercase();
    let similarity = |name: &str| {
        let name = name.to_lowercase();
        let contains = text.len() >= 3 && name.contains(&text);
        // A name that contains the text is similar, the more so the shorter it is.
        let containing = text.len() as f64 / name.len().max(1) as f64;
        let containing = if contains {
            0.8 + 0.2 * containing
        } else {
            0.0
        };
        strsim::normalized_damerau_levenshtein(&text, &name).max(containing)
    };
    let mut near: Vec<(f64, &str)> = names
        .into_iter()
        .filter(|name| name.len() <= LONGEST)
        .map(|name| (similarity(name), name))
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    near.dedup();
    near.into_iter()
        .take(MAX_NAMES)
        .map(|(_, name)| name)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use eventlog::EventType;

    #[test]
    fn the_nearest_names_come_first() {
        let nearest =
            |text: &str| nearest_names(text, EventType::ALL.iter().filter_map(|id| id.name()));
        assert_eq!(nearest("RunThreadd").first(), Some(&"RunThread"));
        assert_eq!(nearest("runthread").first(), Some(&"RunThread"));
        assert_eq!(nearest("StopThred").first(), Some(&"StopThread"));
        assert_eq!(nearest("xyzzy"), [""; 0]);
        assert!(nearest(&"x".repeat(10_000)).is_empty());
    }
}
