//! View state of the thread table: its order and its filter.
//!
//! | key | meaning | example |
//! |---|---|---|
//! | `ts` | sort column, with `.up` or `.down` if not in its default direction | `ready`, `label.down` |
//! | `tq` | filter | `worker` |

use super::panel::table_settings;
use analysis::timeline::thread_table::{ThreadColumn, ThreadTableSettings};

table_settings!(ThreadTableSettings, ThreadColumn::named, ["ts", "tq"]);
