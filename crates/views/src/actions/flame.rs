//! Actions on a box of a flame graph, and the keys of its canvas.

use session::flame::transform::Transform;

model::named_enum! {
    /// Action on the selected box.
    pub enum FlameAction {
        /// Shows the box on the timeline.
        Place: "On the timeline", "t", "show it on the timeline; again: the next occurrence";
        /// Shows the longest occurrence of the box on the timeline.
        Longest: "Longest", "l", "show its longest uninterrupted occurrence on the timeline";
        /// Shows the callers and callees of its function.
        Sandwich: "Callers, callees", "s", "all callers and callees of this function";
        /// Keeps only stacks with its function.
        Focus: "Focus", "f", "only stacks with this function, starting from it";
        /// Removes its function from all stacks.
        Merge: "Merge into callers", "m", "remove this function: adds its time to its callers";
        /// Drops the stacks with its function.
        Drop: "Leave out", "x", "remove all stacks with this function";
    }
    /// Returns the label of the button.
    fn title;
    /// Returns the key that works while the graph has the focus.
    fn key;
    /// Returns the help text.
    fn help;
}

impl FlameAction {
    /// Finds the action of a key.
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|act| act.key() == key)
    }

    /// Returns the step for a function of this name, if the action is a step.
    pub fn step(self, name: &str) -> Option<Transform> {
        let name = name.to_owned();
        match self {
            Self::Focus => Some(Transform::Focus(name)),
            Self::Merge => Some(Transform::Merge(name)),
            Self::Drop => Some(Transform::Drop(name)),
            Self::Place | Self::Longest | Self::Sandwich => None,
        }
    }
}

/// Other keys and gestures of the graph, which work while it has the focus.
const OTHERS: [(&str, &str); 6] = [
    ("Arrows", "select the next, outer or inner box"),
    ("Enter", "zoom to the selected box"),
    ("Escape", "show all; again: clear the selection"),
    ("+, -", "zoom at the selected box"),
    ("Shift + ←, →", "move"),
    (
        "Ctrl + wheel, drag, double click",
        "zoom at the pointer, move, zoom to a box",
    ),
];

/// Returns all keys and gestures of the graph, with their effects.
pub fn flame_keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    let acts = FlameAction::ALL.into_iter();
    OTHERS
        .into_iter()
        .chain(acts.map(|act| (act.key(), act.help())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_lead_back_to_acts() {
        for act in FlameAction::ALL {
            assert_eq!(FlameAction::from_key(act.key()), Some(act));
        }
        assert_eq!(FlameAction::from_key("q"), None);
        assert_eq!(
            FlameAction::Focus.step("a"),
            Some(Transform::Focus("a".into()))
        );
        assert_eq!(flame_keys().count(), OTHERS.len() + FlameAction::ALL.len());
    }
}
