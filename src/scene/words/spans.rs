//! Collections of the program, phases of the concurrent collector, tasks,
//! blocks, spans that the program announced.

use super::{duration, when};
use crate::scene::item::Item;

pub(super) fn describe(item: &Item) -> (String, String) {
    (duration(item), when(item))
}
