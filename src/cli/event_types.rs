//! Parsers for event types in options.

use super::Failure;
use super::similar_names::similar_names;
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
    let names = EventType::ALL.iter().filter_map(|id| id.name());
    let nearest = similar_names(name, names);
    Err(Failure::Usage(format!(
        "unknown event type {name}{nearest}. `eventscope info FILE` lists the types of a log"
    )))
}
