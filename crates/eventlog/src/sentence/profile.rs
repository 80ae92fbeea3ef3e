//! Heap and time profiles, cost centres, info tables, ticky counters.

use std::fmt::{self, Write};

use super::{Quoted, join};
use crate::closure_type::ClosureType;
use crate::cursor::{CText, CcStack, HeapBreakdown};
use crate::event::Event;
use crate::ids::CostCentreId;
use crate::info_tables::address_of;
use crate::names::{Key, Names};
use crate::quantity::{ByteCount, ExactDuration};

pub(super) fn write(out: &mut String, event: &Event<'_>, names: &Names) -> fmt::Result {
    use Event as E;
    match *event {
        E::HeapProfBegin { .. } => write_begin(out, event),
        E::HeapProfSampleBegin { era } => write!(out, "heap census {era} begins"),
        E::HeapProfSampleEnd { era } => write!(out, "heap census {era} ends"),
        E::HeapBioProfSampleBegin { era, time } => write!(
            out,
            "biographical heap census {era}, taken at {time} ns, begins"
        ),
        E::HeapProfSampleString {
            id,
            residency,
            label,
        } => {
            write!(
                out,
                "heap profile {id}: {} of {}",
                ByteCount(residency),
                Quoted(label.0)
            )?;
            write_info_table(out, label, names)
        }
        E::HeapProfSampleCostCentre {
            id,
            residency,
            stack,
        } => {
            write!(out, "heap profile {id}: {} held by ", ByteCount(residency))?;
            write_stack(out, stack, names)
        }
        E::ProfBegin { tick_interval } => write!(
            out,
            "time profiling begins, a tick every {}",
            ExactDuration { ns: tick_interval }
        ),
        E::ProfSampleCostCentre { cap, ticks, stack } => {
            write!(out, "profile sample {ticks} on capability {cap}: ")?;
            write_stack(out, stack, names)
        }
        E::HeapProfCostCentre { .. } | E::InfoTableProv { .. } => write_definition(out, event),
        _ => write_ticky(out, event, names),
    }
}

fn write_begin(out: &mut String, event: &Event<'_>) -> fmt::Result {
    let Event::HeapProfBegin {
        id,
        sampling_period,
        breakdown,
        module_filter,
        closure_descr_filter,
        type_descr_filter,
        cost_centre_filter,
        cost_centre_stack_filter,
        retainer_filter,
        biography_filter,
    } = *event
    else {
        return Ok(());
    };
    write!(out, "heap profile {id} begins, by ")?;
    write_breakdown(out, breakdown)?;
    let period = ExactDuration {
        ns: sampling_period,
    };
    write!(out, ", a census every {period}")?;
    let filters = [
        ("module", module_filter),
        ("closure", closure_descr_filter),
        ("type", type_descr_filter),
        ("cost centre", cost_centre_filter),
        ("cost-centre stack", cost_centre_stack_filter),
        ("retainer", retainer_filter),
        ("biography", biography_filter),
    ];
    for (what, filter) in filters {
        if let Some(filter) = filter.filter(|filter| !filter.0.0.is_empty()) {
            write!(out, ", only {what} {}", Quoted(filter.0))?;
        }
    }
    Ok(())
}

fn write_breakdown(out: &mut String, breakdown: HeapBreakdown) -> fmt::Result {
    out.write_str(match breakdown.0 {
        1 => "cost-centre stack",
        2 => "module",
        3 => "closure description",
        4 => "type description",
        5 => "retainer",
        6 => "biography",
        7 => "closure type",
        8 => "info table",
        9 => "era",
        other => return write!(out, "the unknown breakdown {other}"),
    })
}

/// Writes the name of the info table for a label such as `0x40fff8` of a profile by info table, if it is known.
fn write_info_table(out: &mut String, label: CText<'_>, names: &Names) -> fmt::Result {
    let address = address_of(&label.0.to_str());
    match address.and_then(|address| names.info_table(address)) {
        Some(name) => write!(out, " ({name})"),
        None => Ok(()),
    }
}

/// Writes the cost centres by name, innermost first, then by number.
fn write_stack(out: &mut String, stack: CcStack<'_>, names: &Names) -> fmt::Result {
    let mut ids = stack.iter().peekable();
    let Some(&innermost) = ids.peek() else {
        // The runtime omits MAIN, which is the root of every stack.
        return out.write_str("MAIN");
    };
    let name = |id: CostCentreId| names.get(Key::CostCentre(id));
    let what = if stack.iter().len() == 1 {
        "cost centre"
    } else {
        "cost centres"
    };
    if name(innermost).is_none() && stack.iter().all(|id| name(id).is_none()) {
        write!(out, "{what} ")?;
        return join(out, ", ", ids);
    }
    join(out, " ← ", ids.map(|id| name(id).unwrap_or("unknown")))?;
    write!(out, " ({what} ")?;
    join(out, ", ", stack.iter())?;
    out.write_str(")")
}

fn write_definition(out: &mut String, event: &Event<'_>) -> fmt::Result {
    match *event {
        Event::HeapProfCostCentre {
            id,
            label,
            module,
            src_loc,
            flags,
        } => {
            let caf = flags.is_some_and(|flags| flags & 1 != 0);
            write!(out, "cost centre {id} is {}", label.0.to_str())?;
            for (word, text) in [("in", module), ("at", src_loc)] {
                if !text.0.0.is_empty() {
                    write!(out, " {word} {}", text.0.to_str())?;
                }
            }
            out.write_str(if caf { ", a CAF" } else { "" })
        }
        Event::InfoTableProv {
            info,
            table_name,
            closure_desc,
            ty_desc,
            label,
            module,
            src_loc,
        } => {
            write!(
                out,
                "info table {info:#x} is {}: closure type {}",
                table_name.0.to_str(),
                closure_desc.0.to_str()
            )?;
            if let Some(closure_type) = ClosureType::from_digits(&closure_desc.0.to_str()) {
                write!(out, " ({})", closure_type.name())?;
            }
            let rest = [("type", ty_desc), ("label", label), ("module", module)];
            for (what, text) in rest {
                if !text.0.0.is_empty() {
                    write!(out, ", {what} {}", Quoted(text.0))?;
                }
            }
            write!(out, ", at {}", Quoted(src_loc.0))
        }
        _ => Ok(()),
    }
}

fn write_ticky(out: &mut String, event: &Event<'_>, names: &Names) -> fmt::Result {
    match *event {
        Event::TickyCounterDef {
            id,
            arity,
            kinds,
            name,
            info_tbl,
            json_desc,
        } => {
            write!(
                out,
                "ticky counter {id} is {}, arity {arity}, kinds of arguments {}",
                Quoted(name.0),
                Quoted(kinds.0)
            )?;
            if let Some(info_tbl) = info_tbl {
                write!(out, ", info table {info_tbl:#x}")?;
            }
            match json_desc {
                Some(json) => write!(out, ", {}", json.0.to_str()),
                None => Ok(()),
            }
        }
        Event::TickyCounterSample {
            id,
            entry_count,
            allocs,
            allocd,
        } => write!(
            out,
            "ticky counter {}: entered {entry_count} times, its code allocated {}, its closures {}",
            names.with_name(id, Key::TickyCounter(id)),
            ByteCount(allocs),
            ByteCount(allocd)
        ),
        Event::TickyBeginSample {} => out.write_str("a sample of the ticky counters begins"),
        _ => Ok(()),
    }
}
