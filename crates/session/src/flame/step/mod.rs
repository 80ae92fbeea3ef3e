//! What a user does to the stacks of a flame graph before it is laid out. The
//! steps are taken one after the other; each can be taken back.

mod apply;
mod invert;
mod recursion;

use serde::{Deserialize, Serialize};

pub(crate) use apply::Transformed;
pub(super) use apply::{Change, apply_changes};

/// A change of all stacks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Step {
    /// Only stacks with a frame of this name, from its outermost one inwards.
    Focus(String),
    /// Without the stacks that have a frame of this name.
    Drop(String),
    /// Without the frames of this name: their time is their callers'.
    Merge(String),
    /// A frame that calls itself, directly or through others, stands once.
    CollapseRecursion,
    /// The frames of a module that call each other become one.
    MergeModules,
    /// Without idle time.
    HideIdle,
    /// Innermost frames at the bottom of the graph.
    Invert,
}

/// The steps without a frame, by their names in links.
const PLAIN: [(&str, Step); 4] = [
    ("recursion", Step::CollapseRecursion),
    ("modules", Step::MergeModules),
    ("idle", Step::HideIdle),
    ("invert", Step::Invert),
];

impl Step {
    /// Its text in links and on the command line: `focus:Main.parse`,
    /// `drop:…`, `merge:…`, `recursion`, `modules`, `idle`, `invert`.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Focus(name) => format!("focus:{name}"),
            Self::Drop(name) => format!("drop:{name}"),
            Self::Merge(name) => format!("merge:{name}"),
            plain => {
                let found = PLAIN.iter().find(|(_, step)| step == plain);
                found.map_or("", |(name, _)| name).to_owned()
            }
        }
    }

    /// The step of that text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let frame = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        match text.split_once(':') {
            Some(("focus", name)) => frame(name).map(Self::Focus),
            Some(("drop", name)) => frame(name).map(Self::Drop),
            Some(("merge", name)) => frame(name).map(Self::Merge),
            _ => {
                let found = PLAIN.iter().find(|(name, _)| *name == text);
                found.map(|(_, step)| step.clone())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_lead_back_to_steps() {
        let named = ["focus:Main.f", "drop:IDLE.IDLE", "merge:a:b"];
        for text in named.into_iter().chain(PLAIN.iter().map(|(name, _)| *name)) {
            assert_eq!(
                Step::parse(text).map(|step| step.text()).as_deref(),
                Some(text)
            );
        }
        for text in ["", "focus", "focus:", "other:x"] {
            assert_eq!(Step::parse(text), None, "{text}");
        }
    }
}
