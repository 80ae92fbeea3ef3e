//! Transformations of the stacks by the user, before layout. Steps apply in order, and each can be undone.

mod apply;
mod invert;
mod recursion;

use serde::{Deserialize, Serialize};

pub(crate) use apply::Transformed;
pub(super) use apply::{Change, apply_changes};

/// Transformation of all stacks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Transform {
    /// Keeps stacks with a frame of this name, from its outermost occurrence inwards.
    Focus(String),
    /// Removes stacks with a frame of this name.
    Drop(String),
    /// Removes frames of this name; their weight goes to their callers.
    Merge(String),
    /// Removes repeated occurrences of a frame within a stack, for direct and mutual recursion.
    CollapseRecursion,
    /// Merges adjacent frames of a module into one.
    MergeModules,
    /// Removes stacks with an idle frame.
    HideIdle,
    /// Reverses stacks, so that innermost frames are at the root.
    Invert,
}

/// Steps without a frame, by their names in links.
const PLAIN: [(&str, Transform); 4] = [
    ("recursion", Transform::CollapseRecursion),
    ("modules", Transform::MergeModules),
    ("idle", Transform::HideIdle),
    ("invert", Transform::Invert),
];

impl Transform {
    /// Formats the step for links and the command line: `focus:Main.parse`, `drop:…`, `merge:…`, `recursion`,
    /// `modules`, `idle`, `invert`.
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

    /// Parses the output of `text`.
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
                Transform::parse(text).map(|step| step.text()).as_deref(),
                Some(text)
            );
        }
        for text in ["", "focus", "focus:", "other:x"] {
            assert_eq!(Transform::parse(text), None, "{text}");
        }
    }
}
