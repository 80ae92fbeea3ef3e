//! Clock alignment by the messages that processes send each other.
//!
//! A message is not received before it is sent. So each message from A to B gives a lower bound for the start of
//! B's clock on A's time axis, and each one from B to A an upper bound. As in NTP, the middle of the tightest
//! bounds is used; its error is at most half their distance.

use super::plan::PlanError;
use super::survey::Facts;
use eventlog::hash::SeededMap;
use eventlog::ids::Nanos;

/// Maximum number of messages considered per log and direction.
const MAX_MESSAGES: usize = 1 << 20;

/// Sent and received messages of a log, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Time of the message; `None` if its id occurs at different times.
    sent: SeededMap<Vec<u8>, Option<Nanos>>,
    received: SeededMap<Vec<u8>, Option<Nanos>>,
}

/// Returns the id in a message or marker that begins with `word`.
fn id<'a>(text: &'a [u8], word: &str) -> Option<&'a [u8]> {
    let rest = text.strip_prefix(word.as_bytes())?;
    let is_apart = rest.first().is_some_and(u8::is_ascii_whitespace);
    let mut words = rest.split(u8::is_ascii_whitespace);
    words.find(|id| !id.is_empty()).filter(|_| is_apart)
}

impl Messages {
    /// Records a text of the program, if it marks a message as sent or received.
    pub(super) fn record(&mut self, text: &[u8], at: Nanos, (send, receive): (&str, &str)) {
        let (all, id) = match (id(text, send), id(text, receive)) {
            (Some(id), _) => (&mut self.sent, id),
            (_, Some(id)) => (&mut self.received, id),
            _ => return,
        };
        if let Some(known) = all.get_mut(id) {
            *known = known.filter(|known| *known == at);
        } else if all.len() < MAX_MESSAGES {
            all.insert(id.to_vec(), Some(at));
        }
    }

    /// Adds the messages of another part of the same log.
    fn add(&mut self, other: &Self) {
        for (all, more) in [
            (&mut self.sent, &other.sent),
            (&mut self.received, &other.received),
        ] {
            for (id, at) in more {
                let known = all.entry(id.clone()).or_insert(*at);
                *known = known.filter(|known| Some(*known) == *at);
            }
        }
    }
}

/// Bounds for the start of a clock, in nanoseconds on the axis of another clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Bounds {
    /// Lower bound.
    least_ns: Option<i128>,
    /// Upper bound.
    most_ns: Option<i128>,
    /// Number of messages considered.
    messages: u64,
}

impl Bounds {
    /// Computes the bounds for the clock of `b` on the axis of `a`.
    fn from_messages(a: &Messages, b: &Messages) -> Self {
        let mut bounds = Self::default();
        for (least, sent, received) in [(true, &a.sent, &b.received), (false, &b.sent, &a.received)]
        {
            for (id, sent) in sent {
                let (Some(sent), Some(&Some(received))) = (*sent, received.get(id)) else {
                    continue;
                };
                bounds.messages += 1;
                let apart_ns = i128::from(sent.0) - i128::from(received.0);
                if least {
                    bounds.least_ns = bounds.least_ns.max(Some(apart_ns));
                } else {
                    let most_ns = bounds.most_ns.unwrap_or(i128::MAX);
                    bounds.most_ns = Some(most_ns.min(-apart_ns));
                }
            }
        }
        bounds
    }

    /// Returns both bounds, if both exist.
    const fn both(self) -> Option<(i128, i128)> {
        match (self.least_ns, self.most_ns) {
            (Some(least), Some(most)) => Some((least, most)),
            _ => None,
        }
    }
}

/// Result of aligning a log by messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aligned {
    /// Name of the log's file.
    pub log: String,
    /// Name of the log that it was aligned with.
    pub with: String,
    /// Number of messages used.
    pub messages: u64,
    /// Lower and upper bound of its shift, relative to the alignment by wall clock, or by start if a log has no
    /// wall clock. The middle was used.
    pub bounds_ns: (i128, i128),
    /// Whether the bounds are relative to the alignment by wall clock.
    pub by_wall_clock: bool,
}

impl std::fmt::Display for Aligned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (least, most) = self.bounds_ns;
        let clock = if self.by_wall_clock {
            "its wall clock"
        } else {
            "alignment by start"
        };
        let (log, with, messages) = (&self.log, &self.with, self.messages);
        write!(
            f,
            "{log}: shifted by {} relative to {clock}, from {messages} messages with {with}; bounds {} and {}",
            Span(least + (most - least) / 2),
            Span(least),
            Span(most),
        )
    }
}

/// Returns the wall clock time, in nanoseconds since 1970, at which a log's clock began.
pub(super) fn clock_start(log: &Facts) -> Option<i128> {
    let (time, unix) = log.wall_clock?;
    Some(i128::try_from(unix).unwrap_or(i128::MAX / 4) - i128::from(time.0))
}

/// Returns when the clock of each process began, on the axis of the first, and how this was determined.
pub(super) fn clock_offsets(
    logs: &[Facts],
    groups: &[Vec<usize>],
) -> Result<(Vec<i128>, Vec<Aligned>), PlanError> {
    let told: Vec<Messages> = groups
        .iter()
        .map(|group| {
            let mut all = Messages::default();
            group.iter().for_each(|&log| all.add(&logs[log].messages));
            all
        })
        .collect();
    let log = |process: usize| &logs[groups[process][0]];
    let mut zeros: Vec<Option<i128>> = vec![None; groups.len()];
    zeros[0] = Some(0);
    let mut aligned = Vec::new();
    let mut placed = vec![0];
    // In each step, add the process with the tightest bounds to an already aligned one.
    while placed.len() < groups.len() {
        let mut best: Option<(i128, usize, usize, Bounds, i128)> = None;
        let mut one_way = None;
        for &from in &placed {
            for to in (0..groups.len()).filter(|to| zeros[*to].is_none()) {
                let bounds = Bounds::from_messages(&told[from], &told[to]);
                let Some((least, most)) = bounds.both() else {
                    if bounds.messages > 0 {
                        one_way = one_way.or(Some((from, to, bounds)));
                    }
                    continue;
                };
                let width = most - least;
                if width < 0 {
                    let (one, other) = (log(from).name.clone(), log(to).name.clone());
                    return Err(PlanError::Contradiction(one, other, Span(-width)));
                }
                if best.is_none_or(|(known, ..)| width < known) {
                    best = Some((width, from, to, bounds, least + width / 2));
                }
            }
        }
        let Some((_, from, to, bounds, zero)) = best else {
            return Err(match one_way {
                Some((from, to, bounds)) => one_way_error(log(from), log(to), bounds),
                None => {
                    let lost = zeros.iter().position(Option::is_none).unwrap_or(0);
                    PlanError::NoMessages(log(lost).name.clone())
                }
            });
        };
        zeros[to] = zeros[from].map(|from| from + zero);
        placed.push(to);
        let (usual, by_wall_clock) = default_offset(log(from), log(to));
        let bound = |bound: Option<i128>| bound.unwrap_or(zero) - usual;
        aligned.push(Aligned {
            log: log(to).name.clone(),
            with: log(from).name.clone(),
            messages: bounds.messages,
            bounds_ns: (bound(bounds.least_ns), bound(bounds.most_ns)),
            by_wall_clock,
        });
    }
    Ok((
        zeros.into_iter().map(Option::unwrap_or_default).collect(),
        aligned,
    ))
}

/// Returns the difference between the starts of two clocks without messages: by the wall clock, if both logs have
/// it.
fn default_offset(one: &Facts, other: &Facts) -> (i128, bool) {
    match (clock_start(one), clock_start(other)) {
        (Some(one), Some(other)) => (other - one, true),
        _ => {
            let first = |log: &Facts| i128::from(log.first.unwrap_or_default().0);
            (first(one) - first(other), false)
        }
    }
}

fn one_way_error(one: &Facts, other: &Facts, bounds: Bounds) -> PlanError {
    let (usual, by_wall_clock) = default_offset(one, other);
    let clock = if by_wall_clock { "wall-clock" } else { "start" };
    let limit = match (bounds.least_ns, bounds.most_ns) {
        (Some(least), _) => format!("at least {}", Span(least - usual)),
        (_, Some(most)) => format!("at most {}", Span(most - usual)),
        _ => String::new(),
    };
    PlanError::OneWay {
        one: one.name.clone(),
        other: other.name.clone(),
        limit,
        clock,
    }
}

/// Length of time in nanoseconds, which may be negative: `-1.2 ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub i128);

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us")];
        let ns = self.0;
        let unit = units.iter().find(|(unit, _)| ns.abs() >= *unit);
        match unit {
            Some((unit, name)) => {
                let sign = if ns < 0 { "-" } else { "" };
                let thousandths = ns.abs() / (unit / 1000);
                let (whole, part) = (thousandths / 1000, thousandths % 1000);
                let part = format!("{part:03}");
                let part = part.trim_end_matches('0');
                let point = if part.is_empty() { "" } else { "." };
                write!(f, "{sign}{whole}{point}{part} {name}")
            }
            None => write!(f, "{ns} ns"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_stand_behind_the_word() {
        for (text, wanted) in [
            ("SEND 42", Some("42")),
            ("SEND  42 to worker", Some("42")),
            ("SEND", None),
            ("SEND ", None),
            ("SENDER 42", None),
            ("send 42", None),
            ("I SEND 42", None),
        ] {
            assert_eq!(
                id(text.as_bytes(), "SEND"),
                wanted.map(str::as_bytes),
                "{text}"
            );
        }
    }

    #[test]
    fn lengths_in_words() {
        for (ns, text) in [
            (0, "0 ns"),
            (-999, "-999 ns"),
            (1_000, "1 us"),
            (-1_230_000, "-1.23 ms"),
            (1_050_000_000, "1.05 s"),
        ] {
            assert_eq!(Span(ns).to_string(), text);
        }
    }
}
