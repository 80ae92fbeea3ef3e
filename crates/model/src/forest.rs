//! An implicit in-order forest: the aggregate of any range of an array in
//! O(log n), built by appending, without pointers.
//!
//! (Tristan Hume, “Production Twitter on one machine? …”, 2021, describes it
//! for trace viewers; Perfetto uses the same.) Elements stand at the even
//! places of one vector. Each odd place holds the aggregate of a
//! power-of-two run of elements, between its two halves: what a complete
//! binary tree looks like when it is written in order. Trees of falling
//! height stand side by side, so that appending never moves anything.

/// Something that can be aggregated; `combine` is associative.
pub trait Aggregate: Copy {
    /// The aggregate of two neighbouring runs.
    #[must_use]
    fn combine(self, later: Self) -> Self;
}

/// The forest.
#[derive(Clone, Debug)]
pub struct Forest<A> {
    nodes: Vec<A>,
}

impl<A: Aggregate> Default for Forest<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A: Aggregate> Forest<A> {
    /// A forest without elements.
    #[must_use]
    pub const fn new() -> Self {
        Self { nodes: Vec::new() }
    }

    /// A forest without elements, with memory for this many.
    #[must_use]
    pub fn with_capacity(elements: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(2 * elements),
        }
    }

    /// How many elements it has.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Whether it has none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Appends an element; amortised O(1).
    pub fn push(&mut self, element: A) {
        self.nodes.push(element);
        // Every finished pair of subtrees of one height is combined into the
        // node between them.
        let len = self.nodes.len();
        let levels = len.trailing_ones() - 1;
        let mut at = len - 1;
        for level in 0..levels {
            let step = 1 << level;
            let combined = self.nodes[at - 2 * step].combine(self.nodes[at]);
            at -= step;
            self.nodes[at] = combined;
        }
        // The node after an element is overwritten when its right half is full.
        let open = self.nodes[at];
        self.nodes.push(open);
    }

    /// The aggregate of the elements from `from` up to, not including, `to`;
    /// `None` if there are none.
    #[must_use]
    pub fn query(&self, from: usize, to: usize) -> Option<A> {
        let (mut at, end) = (from * 2, to.min(self.len()) * 2);
        let mut result: Option<A> = None;
        while at < end {
            // The largest aligned subtree that starts here and fits.
            let aligned = at & at.wrapping_neg();
            let fits = 1usize << (usize::BITS - 1 - (end - at).leading_zeros());
            let skip = if at == 0 { fits } else { aligned.min(fits) };
            let node = self.nodes[at + skip / 2 - 1];
            result = Some(result.map_or(node, |before| before.combine(node)));
            at += skip;
        }
        result
    }
}

/// The longest span of a run, the first of equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Longest {
    /// How long it is, in nanoseconds.
    pub duration_ns: u64,
    /// Its index in the lane.
    pub index: u32,
}

impl Aggregate for Longest {
    fn combine(self, later: Self) -> Self {
        if later.duration_ns > self.duration_ns {
            later
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Not commutative, so that the order is tested too.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Run {
        first: u32,
        last: u32,
        sum: u32,
    }

    impl Aggregate for Run {
        fn combine(self, later: Self) -> Self {
            Self {
                first: self.first,
                last: later.last,
                sum: self.sum + later.sum,
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_a_loop(values in prop::collection::vec(0u32..1000, 0..300), a in 0usize..310, b in 0usize..310) {
            let mut forest = Forest::new();
            for &value in &values {
                forest.push(Run { first: value, last: value, sum: value });
            }
            let (from, to) = (a.min(b), a.max(b));
            let slice = values.get(from..to.min(values.len())).unwrap_or_default();
            let expected = slice.first().map(|&first| Run {
                first,
                last: slice[slice.len() - 1],
                sum: slice.iter().sum(),
            });
            prop_assert_eq!(forest.query(from, to), expected);
            prop_assert_eq!(forest.len(), values.len());
        }
    }
}
