//! Numbers that a fleet is judged by.

/// Number that is shown first, and that most of the permitted false claims are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headline {
    /// Full name in digests and assertions.
    pub name: &'static str,
    /// Title for people.
    pub title: &'static str,
}

/// Headline numbers, in display order. They are chosen so that hardly two of them say the same.
pub const HEADLINES: [Headline; 12] = [
    Headline::new("time.wall", "Elapsed time"),
    Headline::new("gc.time.share", "Share of time in collections"),
    Headline::new("gc.pause.p99", "99th percentile of pauses"),
    Headline::new("gc.pause.max", "Longest pause"),
    Headline::new("alloc.bytes.rate", "Allocation rate"),
    Headline::new("heap.live.max", "Greatest live heap"),
    Headline::new("heap.size.max", "Greatest heap size"),
    Headline::new("time.productivity", "Productivity"),
    Headline::new("cap.busy", "Capabilities busy"),
    Headline::new("cap.idle", "Capabilities idle"),
    Headline::new("cap.lost", "Idle while threads were ready"),
    Headline::new("finding.count", "Findings"),
];

impl Headline {
    const fn new(name: &'static str, title: &'static str) -> Self {
        Self { name, title }
    }
}

/// Returns the headline with a full name, with its position.
pub fn headline(name: &str) -> Option<(usize, Headline)> {
    let position = HEADLINES
        .iter()
        .position(|headline| headline.name == name)?;
    Some((position, HEADLINES[position]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headlines_are_known() {
        assert_eq!(
            headline("gc.pause.p99").map(|(position, _)| position),
            Some(2)
        );
        assert_eq!(headline("gc.pause"), None);
        for Headline { name, .. } in HEADLINES {
            let is_metric = |name: &str| crate::metrics::metric_by_name(name).is_some();
            let part = name
                .rsplit_once('.')
                .is_some_and(|(metric, _)| is_metric(metric));
            assert!(is_metric(name) || part, "{name}");
        }
    }
}
