//! Data of the program that traces lack, because the analyses keep only a part of it.

use crate::log::Log;
use analysis::timeline::messages::MAX_TEXT_BYTES;
use eventlog::ids::Nanos;
use model::format::{count, pluralize};
use model::time::Interval;
use views::words::diagnostics::line;

/// Returns a clause about truncated messages, messages without text and names of spans without a lane.
pub(crate) fn left_out(log: &Log<'_>) -> Vec<String> {
    let recording = log.session.recording();
    let messages = &recording.messages;
    let is_written = |at: &Nanos| log.is_selected(Interval::empty_at(*at));
    let truncated = messages.truncated().filter(is_written).count() as u64;
    let mut clauses = Vec::new();
    if truncated > 0 {
        clauses.push(format!(
            "{} truncated to {} bytes",
            pluralize(truncated, "message"),
            count(MAX_TEXT_BYTES as u64)
        ));
    }
    clauses.extend(
        messages
            .diagnostic()
            .map(|without_text| line(&without_text)),
    );
    let spans = &recording.tracks.spans;
    let (all, listed) = (spans.names as u64, spans.listed().len() as u64);
    if all > listed {
        clauses.push(format!(
            "{} left out: only the {} with the most time are written",
            pluralize(all - listed, "span name"),
            count(listed)
        ));
    }
    clauses
}
