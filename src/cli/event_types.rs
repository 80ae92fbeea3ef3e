//! Parsers for event types in options.

use super::Failure;
use eventlog::EventType;

/// Returns the event types with a name or number.
///
/// # Errors
/// A name that no type has is a usage error that lists the most similar names.
pub(super) fn types_named(name: &str) -> Result<Vec<EventType>, Failure> {
    if let Ok(number) = name.parse() {
        return Ok(vec![EventType(number)]);
    }
    let named = |id: &&EventType| id.name() == Some(name);
    let found: Vec<EventType> = EventType::ALL.iter().filter(named).copied().collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let nearest = match nearest_names(name).join(", ") {
        none if none.is_empty() => String::new(),
        names => format!("; similar names: {names}"),
    };
    Err(Failure::Usage(format!(
        "unknown event type {name}{nearest}. `eventscope info FILE` lists the types of a log"
    )))
}

/// Returns the type names most similar to a text, best first.
fn nearest_names(text: &str) -> Vec<&'static str> {
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
    let names = EventType::ALL.iter().filter_map(|id| id.name());
    let mut near: Vec<(f64, &str)> = names
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

    #[test]
    fn the_nearest_names_come_first() {
        assert_eq!(nearest_names("RunThreadd").first(), Some(&"RunThread"));
        assert_eq!(nearest_names("runthread").first(), Some(&"RunThread"));
        assert_eq!(nearest_names("StopThred").first(), Some(&"StopThread"));
        assert_eq!(nearest_names("xyzzy"), [""; 0]);
        assert!(nearest_names(&"x".repeat(10_000)).is_empty());
    }
}
