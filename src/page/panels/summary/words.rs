//! Explanations of the fates of sparks, shared by two panels.

pub(crate) const SPARK: &str = "A spark is an expression that may be evaluated in parallel (par, parMap, Strategies): it waits in its capability's pool until a capability is idle. Counts all created sparks, including overflowed and dud ones.";
pub(crate) const CONVERTED: &str = "Evaluated in parallel, as intended. More is better.";
pub(crate) const OVERFLOWED: &str = "Lost because the pool was full (4096 sparks): the program creates sparks faster than they are run. Create fewer, larger ones.";
pub(crate) const DUD: &str =
    "Not put into the pool, because the value was already computed: useless, but cheap.";
pub(crate) const GCD: &str = "Discarded by the garbage collector: the value was unreachable.";
pub(crate) const FIZZLED: &str =
    "The program evaluated the expression itself before a capability took the spark from the pool.";
