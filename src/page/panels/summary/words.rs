//! What becomes of sparks, in words: two panels explain it.

pub(crate) const SPARK: &str = "A spark is a value that may be computed in parallel (par, parMap, Strategies): it waits in its capability's pool until a capability has nothing else to do. This counts all that were created, the overflowed and dud ones too.";
pub(crate) const CONVERTED: &str =
    "Evaluated in parallel, as they were meant to. The more, the better.";
pub(crate) const OVERFLOWED: &str = "Lost because the pool was full (4096 sparks): the program creates them faster than they are taken. Make fewer, larger ones.";
pub(crate) const DUD: &str =
    "Not put into the pool, because the value was already computed: useless, but cheap.";
pub(crate) const GCD: &str =
    "Discarded by the garbage collector: nothing refers to the value any more.";
pub(crate) const FIZZLED: &str =
    "The program computed the value itself before a capability took the spark from the pool.";
