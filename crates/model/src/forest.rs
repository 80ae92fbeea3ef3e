//! An implicit in-order forest: the aggregate of any range of an array in O(log n), built by appending, without
//! pointers.
//!
//! The structure is described by Tristan Hume for trace viewers (“Production Twitter on one machine? …”, 2021),
//! and Perfetto uses it too. Elements are at the even indices of one vector. Each odd index holds the aggregate
//! of a power-of-two run of elements, between the two halves of the run: a complete binary tree in in-order
//! layout. Trees of decreasing height follow each other, so that appending never moves a node.

/// A value that can be aggregated over a run of elements; `combine` must be associative.
pub trait Aggregate: Copy {
    /// Combines the aggregates of two neighboring runs, `self` being the earlier one.
    #[must_use]
    fn combine(self, later: Self) -> Self;
}

/// An append-only array with range aggregates in O(log n).
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
    /// Creates an empty forest.
    pub const fn new() -> Self {
        Self { nodes: Vec::new() }
    }

    /// Creates an empty forest with memory reserved for this number of elements.
    pub fn with_capacity(elements: usize) -> Self {
        Self {
            nodes: Vec::with_capacity(2 * elements),
        }
    }

    /// Returns the number of elements, without the inner nodes.
    pub const fn len(&self) -> usize {
        self.nodes.len() / 2
    }

    /// Returns whether there are no elements.
    pub const fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Appends an element; amortized O(1).
    pub fn push(&mut self, element: A) {
        self.nodes.push(element);
        // Combine each completed pair of equally high subtrees into the node between them.
        let len = self.nodes.len();
        let levels = len.trailing_ones() - 1;
        let mut at = len - 1;
        for level in 0..levels {
            let step = 1 << level;
            let combined = self.nodes[at - 2 * step].combine(self.nodes[at]);
            at -= step;
            self.nodes[at] = combined;
        }
        // The node after an element is a placeholder until its right half is full.
        let open = self.nodes[at];
        self.nodes.push(open);
    }

    /// Returns the aggregate of the elements `from..to`; `None` if the range is empty.
    pub fn query(&self, from: usize, to: usize) -> Option<A> {
        let (mut at, end) = (from * 2, to.min(self.len()) * 2);
        let mut result: Option<A> = None;
        while at < end {
            // The largest aligned subtree that begins here and does not reach beyond the range.
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

/// The longest span of a run; the first one of equals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Longest {
    /// Length of that span, in nanoseconds.
    pub duration_ns: u64,
    /// Index of that span (or block of spans) in its sequence.
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

    /// Not commutative, to test the order of `combine` too.
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
