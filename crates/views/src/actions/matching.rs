//! Fuzzy matching of names, as in the palette.

use model::sorting::CompactSort;
use std::cmp::Reverse;

/// Match quality; more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(u32);

/// Score of a letter that begins a word.
const BEGIN: u32 = 8;
/// Score of a letter directly after the previous one: the start of one word beats the initials of several.
const IN_A_ROW: u32 = 9;
/// Score of any other letter.
const LETTER: u32 = 1;
/// Bonus if the typed word begins a word of the name.
const PREFIX: u32 = 6;
/// Bonus if it is a whole word of the name.
const WHOLE: u32 = 4;
/// Bonus if it begins the name.
const FIRST: u32 = 2;

/// Bonus if the name contains all typed words as one phrase.
const TOGETHER: u32 = 3;

/// Scores a name against the typed text; `None` if it does not match. Every typed word must match: its letters
/// occur in the name in order. Initials and consecutive letters score higher. Case is ignored.
pub(crate) fn score(typed: &str, name: &str) -> Option<Score> {
    let name: Vec<char> = folded(name);
    let mut sum = 0;
    let mut phrase = Vec::new();
    for word in typed.split_whitespace().map(folded) {
        sum += word_score(&word, &name)?;
        if !phrase.is_empty() {
            phrase.push(' ');
        }
        phrase.extend(word);
    }
    let together = !phrase.is_empty() && name.windows(phrase.len()).any(|part| part == phrase);
    if together {
        sum += TOGETHER;
    }
    Some(Score(sum))
}

fn folded(text: &str) -> Vec<char> {
    // Map each char to a single char, so that indices stay valid.
    text.chars()
        .map(|c| c.to_lowercase().next().unwrap_or(c))
        .collect()
}

/// Returns whether a word begins at this index.
fn begins(name: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| name[before]);
    before.is_none_or(|before| !before.is_alphanumeric()) && name[at].is_alphanumeric()
}

/// Returns the best score of a word in a name. Dynamic programming: `best[j]` is the best score of the letters so
/// far if the last of them is letter `j` of the name.
fn word_score(word: &[char], name: &[char]) -> Option<u32> {
    let mut best: Vec<Option<u32>> = Vec::new();
    for (i, &letter) in word.iter().enumerate() {
        let mut next = vec![None; name.len()];
        // The maximum of `best[..j - 1]`, for letters that are not consecutive.
        let mut before = None;
        for j in 0..name.len() {
            if j >= 2 {
                before = before.max(best.get(j - 2).copied().flatten());
            }
            if name[j] != letter {
                continue;
            }
            let starts = if begins(name, j) { BEGIN } else { LETTER };
            next[j] = if i == 0 {
                Some(starts)
            } else {
                let adjacent = j
                    .checked_sub(1)
                    .and_then(|at| best[at])
                    .map(|score| score + IN_A_ROW);
                adjacent.max(before.map(|score| score + starts))
            };
        }
        best = next;
    }
    let best = best.into_iter().flatten().max()?;
    Some(best + bonus(word, name))
}

/// Returns the bonus for a word that occurs in the name as typed.
fn bonus(word: &[char], name: &[char]) -> u32 {
    let mut words = name.split(|c| !c.is_alphanumeric());
    let prefix = words.clone().any(|other| other.starts_with(word));
    let whole = words.any(|other| other == word);
    let first = name.starts_with(word);
    [(prefix, PREFIX), (whole, WHOLE), (first, FIRST)]
        .into_iter()
        .filter_map(|(holds, bonus)| holds.then_some(bonus))
        .sum()
}

/// Returns the indices of matching names, best first and ties in input order, at most `limit`. Names that score
/// less than 60 % of the best are left out. If nothing was typed, all names match in input order.
pub fn rank<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<usize> {
    let names = names.into_iter().enumerate();
    if typed.trim().is_empty() {
        return names.map(|(number, _)| number).take(limit).collect();
    }
    let mut found: Vec<(Reverse<Score>, usize)> = names
        .filter_map(|(number, name)| Some((Reverse(score(typed, name)?), number)))
        .collect();
    found.sort_small();
    let best = found.first().map_or(0, |(Reverse(Score(best)), _)| *best);
    let good = found
        .into_iter()
        .take_while(|(Reverse(Score(score)), _)| score * 5 >= best * 3);
    good.take(limit).map(|(_, number)| number).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NAMES: &[&str] = &[
        "Zoom in",
        "Zoom out",
        "Zoom to the selection",
        "Hide the track",
        "Show all tracks",
        "Go to the next note",
        "Go to the next item",
        "thread 12: io-manager",
        "thread 112",
        "Größe",
    ];

    fn found(typed: &str) -> Vec<&'static str> {
        rank(typed, NAMES.iter().copied(), 20)
            .into_iter()
            .map(|number| NAMES[number])
            .collect()
    }

    #[test]
    fn best_first() {
        let cases: &[(&str, &[&str])] = &[
            ("zoom", &["Zoom in", "Zoom out", "Zoom to the selection"]),
            ("ZO", &["Zoom in", "Zoom out", "Zoom to the selection"]),
            ("zoo o", &["Zoom out", "Zoom in", "Zoom to the selection"]),
            ("the track", &["Hide the track"]),
            ("the next i", &["Go to the next item"]),
            ("trac", &["Hide the track", "Show all tracks"]),
            ("zi", &["Zoom in"]),
            ("zts", &["Zoom to the selection"]),
            ("next note", &["Go to the next note"]),
            ("note next", &["Go to the next note"]),
            ("12", &["thread 12: io-manager"]),
            ("thread 1", &["thread 12: io-manager", "thread 112"]),
            ("io man", &["thread 12: io-manager"]),
            ("hide", &["Hide the track"]),
            ("tracks", &["Show all tracks"]),
            ("größe", &["Größe"]),
            ("zoom xyz", &[]),
        ];
        for (typed, wanted) in cases {
            assert_eq!(found(typed), *wanted, "{typed}");
        }
        assert_eq!(found(""), NAMES);
        assert_eq!(rank(" ", NAMES.iter().copied(), 2), [0, 1]);
    }

    #[test]
    fn one_word_before_letters_of_several() {
        let names = ["Show panel Summary", "Show panel Sparks", "Spare"];
        assert_eq!(rank("spa", names, 9), [2, 1, 0]);
        assert_eq!(rank("panel spa", names, 9), [1, 0]);
        let names = ["Go to what woke this thread", "Go to thread 1"];
        assert_eq!(rank("go  to thread", names, 9), [1, 0]);
    }

    /// Naive subsequence check.
    fn is_in_order(word: &[char], name: &[char]) -> bool {
        let mut rest = name.iter();
        word.iter().all(|letter| rest.any(|other| other == letter))
    }

    proptest! {
        #[test]
        fn found_if_letters_are_in_order(word in "[a-c ]{0,5}", name in "[a-cA-C -]{0,12}") {
            let folded_name = folded(&name);
            let expected = word.split_whitespace().all(|word| is_in_order(&folded(word), &folded_name));
            prop_assert_eq!(score(&word, &name).is_some(), expected);
        }

        #[test]
        fn any_text_can_be_matched(typed in any::<String>(), name in any::<String>()) {
            let itself = score(&name, &name);
            prop_assert!(itself.is_some());
            let _ = score(&typed, &name);
        }
    }
}
