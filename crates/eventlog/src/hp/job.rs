//! Properties of a heap profile, derived from the program's command line and from the labels.

use std::borrow::Cow;

/// Breakdown of a profile, with the runtime's numbers (`HeapProfBreakdown`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Breakdown {
    CostCentre = 1,
    Module = 2,
    ClosureDescr = 3,
    TypeDescr = 4,
    Retainer = 5,
    Biography = 6,
    ClosureType = 7,
    InfoTable = 8,
    Era = 9,
}

/// Number of filters of a profile, in the order of `HEAP_PROF_BEGIN`.
pub(super) const FILTERS: usize = 7;
/// Index of the filter by biography.
const BIOGRAPHY: usize = 6;

/// Parsed command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Job {
    /// The program and its arguments, including those for the runtime.
    pub(super) arguments: Vec<Vec<u8>>,
    /// Breakdown of the profile, if the flags determine it. Programs built without profiling do not write their
    /// flags.
    pub(super) breakdown: Option<Breakdown>,
    /// Time between two censuses; 0 if unknown.
    pub(super) period_ns: u64,
    /// Filters by module, closure description, type, cost centre, cost centre stack, retainer, biography.
    pub(super) filters: [Vec<u8>; FILTERS],
}

/// Default time between censuses.
const DEFAULT_PERIOD_NS: u64 = 100_000_000;

impl Job {
    /// Parses the text of a `JOB` line. The runtime doubles quotation marks (since GHC 8.10), and separates
    /// arguments by blanks: an argument with a blank is indistinguishable from two.
    pub(super) fn parse(text: &[u8]) -> Self {
        let words = text.split(u8::is_ascii_whitespace);
        let words = words.filter(|word| !word.is_empty());
        let arguments = words.map(|word| undoubled(word).into_owned()).collect();
        let mut job = Self {
            arguments,
            ..Self::default()
        };
        let mut for_runtime = false;
        for argument in job.arguments.clone() {
            match argument.as_slice() {
                b"+RTS" => {
                    for_runtime = true;
                    job.period_ns = DEFAULT_PERIOD_NS;
                }
                b"-RTS" => for_runtime = false,
                flag if for_runtime => job.flag(flag),
                _ => {}
            }
        }
        job
    }

    /// Whether only closures with a certain biography are counted. The runtime knows these only at the end of the
    /// run, so a log has the time of such a census in a field.
    pub(super) fn is_biographical(&self) -> bool {
        self.breakdown == Some(Breakdown::Biography) || !self.filters[BIOGRAPHY].is_empty()
    }

    /// Parses a flag of the runtime, as `rts/RtsFlags.c` does.
    fn flag(&mut self, flag: &[u8]) {
        match flag {
            b"-h" => self.breakdown = Some(Breakdown::CostCentre),
            [b'-', b'i', seconds @ ..] => {
                let seconds = std::str::from_utf8(seconds).ok();
                let seconds: Option<f64> = seconds.and_then(|text| text.parse().ok());
                let seconds = seconds.filter(|seconds| (0.0..1e9).contains(seconds));
                self.period_ns = seconds.map_or(self.period_ns, |s| (s * 1e9).round() as u64);
            }
            [b'-', b'h', kind] => {
                if let Some(breakdown) = breakdown(*kind) {
                    self.breakdown = Some(breakdown);
                }
            }
            [b'-', b'h', kind, only @ ..] => {
                if let Some(place) = filter_index(*kind) {
                    self.filters[place] = without_braces(only).to_vec();
                }
            }
            _ => {}
        }
    }
}

const fn breakdown(kind: u8) -> Option<Breakdown> {
    Some(match kind {
        b'c' | b'C' => Breakdown::CostCentre,
        b'm' | b'M' => Breakdown::Module,
        b'd' | b'D' => Breakdown::ClosureDescr,
        b'y' | b'Y' => Breakdown::TypeDescr,
        b'r' | b'R' => Breakdown::Retainer,
        b'b' | b'B' => Breakdown::Biography,
        b'T' => Breakdown::ClosureType,
        b'i' => Breakdown::InfoTable,
        b'e' => Breakdown::Era,
        _ => return None,
    })
}

const fn filter_index(kind: u8) -> Option<usize> {
    Some(match kind {
        b'm' | b'M' => 0,
        b'd' | b'D' => 1,
        b'y' | b'Y' => 2,
        b'c' => 3,
        b'C' => 4,
        b'r' | b'R' => 5,
        b'b' | b'B' => BIOGRAPHY,
        _ => return None,
    })
}

/// Strips optional braces from a filter.
fn without_braces(only: &[u8]) -> &[u8] {
    let only = only.strip_prefix(b"{").unwrap_or(only);
    only.strip_suffix(b"}").unwrap_or(only)
}

fn undoubled(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.windows(2).any(|pair| pair == b"\"\"") {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        out.push(byte);
        if byte == b'"' && bytes.as_slice().first() == Some(&b'"') {
            bytes.next();
        }
    }
    Cow::Owned(out)
}

/// Properties of a file's labels, to infer the breakdown if no flag determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LabelTraits {
    any: bool,
    /// All labels are addresses.
    addresses: bool,
    /// All labels are states of a biography.
    states: bool,
    /// All labels begin with a number in parentheses, or are `MAIN` or `SYSTEM`.
    numbered: bool,
    /// Some label has several members, separated by commas.
    members: bool,
    /// Some label is a stack.
    stacks: bool,
    /// All labels are closure types of the runtime or `package:Module.Constructor`.
    closure_types: bool,
    runtime_type: bool,
}

impl Default for LabelTraits {
    fn default() -> Self {
        Self {
            any: false,
            addresses: true,
            states: true,
            numbered: true,
            members: false,
            stacks: false,
            closure_types: true,
            runtime_type: false,
        }
    }
}

impl LabelTraits {
    pub(super) fn observe(&mut self, label: &[u8]) {
        self.any = true;
        self.addresses &= label
            .strip_prefix(b"0x")
            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        self.states &= matches!(label, b"LAG" | b"DRAG" | b"USE" | b"VOID" | b"INHERENT_USE");
        let rest = super::stack::without_number(label);
        self.numbered &= rest.len() < label.len() || matches!(label, b"MAIN" | b"SYSTEM");
        self.members |= rest.contains(&b',');
        self.stacks |= rest.contains(&b'/');
        let of_runtime = label
            .iter()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_');
        self.closure_types &= of_runtime || label.contains(&b':');
        self.runtime_type |= [&b"FUN"[..], b"THUNK", b"ARR_WORDS", b"BLACKHOLE", b"STACK"]
            .iter()
            .any(|name| label.starts_with(name));
    }

    /// Returns the inferred breakdown.
    pub(super) const fn breakdown(&self) -> Option<Breakdown> {
        if !self.any {
            None
        } else if self.addresses {
            Some(Breakdown::InfoTable)
        } else if self.states {
            Some(Breakdown::Biography)
        } else if self.closure_types && self.runtime_type {
            Some(Breakdown::ClosureType)
        } else if self.numbered && self.members && !self.stacks {
            Some(Breakdown::Retainer)
        } else if self.numbered && self.stacks && !self.members {
            Some(Breakdown::CostCentre)
        } else {
            None
        }
    }
}
