//! Labels of profiles by cost centre stack: `(302)level1/main/Main.CAF` is stack number 302, innermost cost centre
//! first. The runtime truncates them to 25 characters, or to the length set by `-L`, and omits modules except for
//! that of `CAF`.

use crate::hash::SeededMap;
/// Definition of a cost centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Centre<'a> {
    pub(super) label: &'a [u8],
    /// Empty if unknown.
    pub(super) module: &'a [u8],
}

/// Identity of a cost centre: its name. Where two stacks have the same names, because they differ in modules or in
/// the truncated part, the later stack gets an innermost cost centre of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Key {
    name: Vec<u8>,
    only_of: Option<u64>,
}

/// Stacks by label.
#[derive(Clone, Debug, Default)]
pub(super) struct Stacks {
    centres: SeededMap<Key, u32>,
    /// Number of the first stack with these names.
    firsts: SeededMap<Vec<u8>, u64>,
    stacks: SeededMap<Vec<u8>, Box<[u32]>>,
}

impl Stacks {
    /// Returns the cost centres of a label, innermost first. Calls `define` for new ones.
    pub(super) fn resolve(
        &mut self,
        label: &[u8],
        mut define: impl FnMut(u32, Centre<'_>),
    ) -> &[u32] {
        if !self.stacks.contains_key(label) {
            let stack = self.new_stack(label, &mut define);
            self.stacks.insert(label.to_vec(), stack);
        }
        self.stacks.get(label).map_or(&[], |stack| stack)
    }

    fn new_stack(&mut self, label: &[u8], define: &mut impl FnMut(u32, Centre<'_>)) -> Box<[u32]> {
        // MAIN is the root of every stack and omitted in events.
        if label == b"MAIN" {
            return Box::default();
        }
        let names = without_number(label);
        let number = number(label);
        let first = *self.firsts.entry(names.to_vec()).or_insert(number);
        let mut only_of = (number != first).then_some(number);
        let mut stack = Vec::new();
        for name in components(names) {
            let next = u32::try_from(self.centres.len()).unwrap_or(u32::MAX);
            let key = Key {
                name: name.to_vec(),
                only_of: only_of.take(),
            };
            let id = *self.centres.entry(key).or_insert_with(|| {
                define(next, centre(name));
                next
            });
            stack.push(id);
        }
        stack.into()
    }
}

/// Strips the parenthesized number from a label.
pub(super) fn without_number(label: &[u8]) -> &[u8] {
    let digits = digits(label);
    if digits.is_empty() {
        label
    } else {
        &label[digits.len() + 2..]
    }
}

/// Returns the digits of the number at the start of a label.
fn digits(label: &[u8]) -> &[u8] {
    let Some(rest) = label.strip_prefix(b"(") else {
        return &[];
    };
    match rest.iter().position(|b| !b.is_ascii_digit()) {
        Some(end) if rest[end] == b')' => &rest[..end],
        _ => &[],
    }
}

fn number(label: &[u8]) -> u64 {
    let digits = std::str::from_utf8(digits(label)).unwrap_or_default();
    digits.parse().unwrap_or_default()
}

fn centre(name: &[u8]) -> Centre<'_> {
    match name.strip_suffix(b".CAF") {
        Some(module) => Centre {
            label: b"CAF",
            module,
        },
        None => Centre {
            label: name,
            module: b"",
        },
    }
}

/// Splits the names at slashes. A slash that is part of an operator is adjacent to other symbols, or follows a
/// period (`Data.Map.</>`).
fn components(names: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut from = 0;
    let mut ends = Vec::new();
    let mut at = 0;
    while at < names.len() {
        let run = names[at..].iter().take_while(|&&b| is_symbol(b)).count();
        if run == 0 {
            at += 1;
            continue;
        }
        let end = at + run;
        let behind_name = at > 0 && names[at - 1] != b'.';
        let before_name = end < names.len() && names[end] != b'.';
        if behind_name && names[at] == b'/' {
            ends.push(at);
        }
        if before_name && names[end - 1] == b'/' && ends.last() != Some(&(end - 1)) {
            ends.push(end - 1);
        }
        at = end;
    }
    ends.push(names.len());
    ends.into_iter()
        .map(move |end| {
            let name = &names[from..end];
            from = end + 1;
            name
        })
        .filter(|name| !name.is_empty())
}

/// Whether the byte can be part of an operator, except the period, which also joins names.
const fn is_symbol(byte: u8) -> bool {
    matches!(
        byte,
        b'!' | b'#'
            | b'$'
            | b'%'
            | b'&'
            | b'*'
            | b'+'
            | b'/'
            | b'<'
            | b'='
            | b'>'
            | b'?'
            | b'@'
            | b'\\'
            | b'^'
            | b'|'
            | b'-'
            | b'~'
            | b':'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parted_at_the_slashes_that_part_them() {
        for (label, names) in [
            (
                "(302)level1/main/Main.CAF",
                &["level1", "main", "Main.CAF"][..],
            ),
            ("(3)SYSTEM", &["SYSTEM"]),
            ("(95)main.\\/main", &["main.\\", "main"]),
            ("(1)Data.Map.</>/main", &["Data.Map.</>", "main"]),
            ("(1)main/</>", &["main", "</>"]),
            ("(1)main./", &["main./"]),
            ("(1)./main", &[".", "main"]),
            ("(1)GHC.Internal.IO.Encod...", &["GHC.Internal.IO.Encod..."]),
            ("(1)f/GHC.Internal....", &["f", "GHC.Internal...."]),
            ("(1)", &[]),
            ("(x)f", &["(x)f"]),
            ("(1)f//g", &["f", "g"]),
        ] {
            let found: Vec<_> = components(without_number(label.as_bytes())).collect();
            let names: Vec<_> = names.iter().map(|name| name.as_bytes()).collect();
            assert_eq!(found, names, "{label}");
        }
    }

    #[test]
    fn different_labels_are_different_stacks() {
        let mut stacks = Stacks::default();
        let mut defined = Vec::new();
        let mut of = |label: &str| {
            let define = |id, centre: Centre<'_>| defined.push((id, centre.label.to_vec()));
            stacks.resolve(label.as_bytes(), define).to_vec()
        };
        assert_eq!(of("(7)f/main"), [0, 1]);
        assert_eq!(of("(8)f/main"), [2, 1]);
        assert_eq!(of("(9)main"), [1]);
        assert_eq!(of("(7)f/main"), [0, 1]);
        assert_eq!(of("MAIN"), [0; 0]);
        let names: Vec<_> = defined
            .iter()
            .map(|(id, name)| (*id, name.as_slice()))
            .collect();
        assert_eq!(names, [(0, &b"f"[..]), (1, b"main"), (2, b"f")]);
    }
}
