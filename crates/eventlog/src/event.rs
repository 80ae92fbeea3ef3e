//! Every event that GHC 6.12 to 9.12 writes, in one table: number, name,
//! fields in wire order. The table makes the [`Event`] enum, its decoder and
//! the listing of its fields. Names, of events and fields, are those of
//! `ghc-events`; numbers and layouts are those of the runtime's
//! `EventLogFormat.h` (before 9.2 `includes/rts/EventLogFormat.h`).

use super::cursor::{
    Bytes, CText, CapsetType, CcStack, Cursor, Field, HeapBreakdown, MessageTag, Text, TextList,
    Value,
};
use super::status::{StopCodes, StopStatus};
use crate::ids::{CapId, CapsetId, CostCentreId, OsThreadId, TaskId, ThreadId};

/// The number of an event type, as the header declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventType(pub u16);

/// Whether a type's payload has one size or carries a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeClass {
    /// The size that the header declares.
    Fixed,
    /// A `u16` length stands before the payload.
    Variable,
}

macro_rules! name_or {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident $alias:literal) => {
        $alias
    };
}

macro_rules! events {
    ($(
        $id:literal $class:ident $name:ident $(= $alias:literal)? {
            $( $field:ident $key:literal : $ty:ty ),* $(,)?
        }
    )*) => {
        /// One decoded event. Fields are in the units of the wire: nanoseconds,
        /// bytes, counts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Event<'a> {
            $(
                #[doc = concat!("Event type ", $id, ".")]
                $name {
                    $( #[doc = concat!("`", $key, "` in `ghc-events`.")] $field: $ty, )*
                },
            )*
            /// A type that this program does not know, or a payload too short
            /// for its type.
            UnknownEvent {
                /// The type's number.
                id: u16,
                /// Its bytes.
                payload: &'a [u8],
            },
        }

        impl<'a> Event<'a> {
            fn decode_known(id: EventType, c: &mut Cursor<'a>) -> Option<Self> {
                Some(match id.0 {
                    $( $id => Self::$name { $( $field: c.field()?, )* }, )*
                    _ => return None,
                })
            }

            /// The constructor's name in `ghc-events`.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $( Self::$name { .. } => name_or!($name $($alias)?), )*
                    Self::UnknownEvent { .. } => "UnknownEvent",
                }
            }

            fn table_fields(&self) -> Vec<(&'static str, Value<'a>)> {
                match self {
                    $( Self::$name { $( $field, )* } => vec![ $( ($key, $field.value()), )* ], )*
                    Self::UnknownEvent { id, payload } => vec![
                        ("ref", Value::Number(u64::from(*id))),
                        ("payload", Value::Bytes(payload)),
                    ],
                }
            }
        }

        impl EventType {
            /// The name of this type's events, if it is known.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $( $id => Some(name_or!($name $($alias)?)), )*
                    _ => None,
                }
            }

            /// The size class that this program expects of the type.
            #[must_use]
            pub const fn expected_class(self) -> Option<SizeClass> {
                match self.0 {
                    $( $id => Some(SizeClass::$class), )*
                    _ => None,
                }
            }
        }
    };
}

events! {
    0 Fixed CreateThread { thread "thread": ThreadId }
    1 Fixed RunThread { thread "thread": ThreadId }
    2 Fixed StopThread { thread "thread": ThreadId, status "status": StopStatus }
    3 Fixed ThreadRunnable { thread "thread": ThreadId }
    4 Fixed MigrateThread { thread "thread": ThreadId, new_cap "newCap": CapId }
    5 Fixed RunSpark = "SparkRun" { thread "thread": ThreadId }
    6 Fixed StealSpark = "SparkSteal" { thread "thread": ThreadId, victim_cap "victimCap": CapId }
    7 Fixed Shutdown {}
    8 Fixed WakeupThread { thread "thread": ThreadId, other_cap "otherCap": CapId }
    9 Fixed StartGC {}
    10 Fixed EndGC {}
    11 Fixed RequestSeqGC {}
    12 Fixed RequestParGC {}
    15 Fixed CreateSparkThread { spark_thread "sparkThread": ThreadId }
    16 Variable Message { msg "msg": Text<'a> }
    17 Fixed Startup { n_caps "n_caps": u16 }
    19 Variable UserMessage { msg "msg": Text<'a> }
    20 Fixed GCIdle {}
    21 Fixed GCWork {}
    22 Fixed GCDone {}
    23 Variable Version { version "version": Text<'a> }
    24 Variable ProgramInvocation { commandline "commandline": Text<'a> }
    25 Fixed CapsetCreate { capset "capset": CapsetId, capset_type "capsetType": CapsetType }
    26 Fixed CapsetDelete { capset "capset": CapsetId }
    27 Fixed CapsetAssignCap { capset "capset": CapsetId, cap "cap": CapId }
    28 Fixed CapsetRemoveCap { capset "capset": CapsetId, cap "cap": CapId }
    29 Variable RtsIdentifier { capset "capset": CapsetId, rtsident "rtsident": Text<'a> }
    30 Variable ProgramArgs { capset "capset": CapsetId, args "args": TextList<'a> }
    31 Variable ProgramEnv { capset "capset": CapsetId, env "env": TextList<'a> }
    32 Fixed OsProcessPid { capset "capset": CapsetId, pid "pid": u32 }
    33 Fixed OsProcessParentPid { capset "capset": CapsetId, ppid "ppid": u32 }
    34 Fixed SparkCounters {
        created "sparksCreated": u64, dud "sparksDud": u64, overflowed "sparksOverflowed": u64,
        converted "sparksConverted": u64, gcd "sparksGCd": u64, fizzled "sparksFizzled": u64,
        remaining "sparksRemaining": u64,
    }
    35 Fixed SparkCreate {}
    36 Fixed SparkDud {}
    37 Fixed SparkOverflow {}
    38 Fixed SparkRun {}
    39 Fixed SparkSteal { victim_cap "victimCap": CapId }
    40 Fixed SparkFizzle {}
    41 Fixed SparkGC {}
    42 Variable InternString { str "str": CText<'a>, id "sId": u32 }
    43 Fixed WallClockTime { capset "capset": CapsetId, sec "sec": u64, nsec "nsec": u32 }
    44 Variable ThreadLabel { thread "thread": ThreadId, label "threadlabel": Text<'a> }
    45 Fixed CapCreate { cap "cap": CapId }
    46 Fixed CapDelete { cap "cap": CapId }
    47 Fixed CapDisable { cap "cap": CapId }
    48 Fixed CapEnable { cap "cap": CapId }
    49 Fixed HeapAllocated { heap_capset "heapCapset": CapsetId, alloc_bytes "allocBytes": u64 }
    50 Fixed HeapSize { heap_capset "heapCapset": CapsetId, size_bytes "sizeBytes": u64 }
    51 Fixed HeapLive { heap_capset "heapCapset": CapsetId, live_bytes "liveBytes": u64 }
    52 Fixed HeapInfoGHC {
        heap_capset "heapCapset": CapsetId, gens "gens": u16, max_heap_size "maxHeapSize": u64,
        alloc_area_size "allocAreaSize": u64, mblock_size "mblockSize": u64,
        block_size "blockSize": u64,
    }
    53 Fixed GCStatsGHC {
        heap_capset "heapCapset": CapsetId, gen_no "gen": u16, copied "copied": u64,
        slop "slop": u64, frag "frag": u64, par_n_threads "parNThreads": u32,
        par_max_copied "parMaxCopied": u64, par_tot_copied "parTotCopied": u64,
        par_balanced_copied "parBalancedCopied": Option<u64>,
    }
    54 Fixed GlobalSyncGC {}
    55 Fixed TaskCreate { task "taskId": TaskId, cap "cap": CapId, tid "tid": OsThreadId }
    56 Fixed TaskMigrate { task "taskId": TaskId, cap "cap": CapId, new_cap "new_cap": CapId }
    57 Fixed TaskDelete { task "taskId": TaskId }
    58 Variable UserMarker { markername "markername": Text<'a> }
    60 Fixed EdenStartReceive {}
    61 Fixed EdenEndReceive {}
    62 Fixed CreateProcess { process "process": u32 }
    63 Fixed KillProcess { process "process": u32 }
    64 Fixed AssignThreadToProcess { thread "thread": ThreadId, process "process": u32 }
    65 Fixed CreateMachine { machine "machine": u16, realtime "realtime": u64 }
    66 Fixed KillMachine { machine "machine": u16 }
    67 Fixed SendMessage {
        tag "mesTag": MessageTag, sender_process "senderProcess": u32,
        sender_thread "senderThread": u32, receiver_machine "receiverMachine": u16,
        receiver_process "receiverProcess": u32, receiver_inport "receiverInport": u32,
    }
    68 Fixed ReceiveMessage {
        tag "mesTag": MessageTag, receiver_process "receiverProcess": u32,
        receiver_inport "receiverInport": u32, sender_machine "senderMachine": u16,
        sender_process "senderProcess": u32, sender_thread "senderThread": u32,
        message_size "messageSize": u32,
    }
    69 Fixed SendReceiveLocalMessage {
        tag "mesTag": MessageTag, sender_process "senderProcess": u32,
        sender_thread "senderThread": u32, receiver_process "receiverProcess": u32,
        receiver_inport "receiverInport": u32,
    }
    90 Fixed MemReturn {
        heap_capset "heapCapset": CapsetId, current "current": u32, needed "needed": u32,
        returned "returned": u32,
    }
    91 Fixed BlocksSize { heap_capset "heapCapset": CapsetId, blocks_size "blocksSize": u64 }
    100 Fixed MerStartParConjunction { dyn_id "dyn_id": u64, static_id "static_id": u32 }
    101 Fixed MerEndParConjunction { dyn_id "dyn_id": u64 }
    102 Fixed MerEndParConjunct { dyn_id "dyn_id": u64 }
    103 Fixed MerCreateSpark { dyn_id "dyn_id": u64, spark_id "spark_id": u32 }
    104 Fixed MerFutureCreate { future_id "future_id": u64, name_id "name_id": u32 }
    105 Fixed MerFutureWaitNosuspend { future_id "future_id": u64 }
    106 Fixed MerFutureWaitSuspended { future_id "future_id": u64 }
    107 Fixed MerFutureSignal { future_id "future_id": u64 }
    108 Fixed MerLookingForGlobalThread {}
    109 Fixed MerWorkStealing {}
    110 Fixed MerReleaseThread { thread_id "thread_id": u32 }
    111 Fixed MerCapSleeping {}
    112 Fixed MerLookingForLocalSpark {}
    113 Fixed MerCallingMain {}
    140 Variable PerfName { perf_num "perfNum": u32, name "name": Text<'a> }
    141 Fixed PerfCounter { perf_num "perfNum": u32, tid "tid": OsThreadId, period "period": u64 }
    142 Fixed PerfTracepoint { perf_num "perfNum": u32, tid "tid": OsThreadId }
    160 Variable HeapProfBegin {
        id "heapProfId": u8, sampling_period "heapProfSamplingPeriod": u64,
        breakdown "heapProfBreakdown": HeapBreakdown,
        module_filter "heapProfModuleFilter": Option<CText<'a>>,
        closure_descr_filter "heapProfClosureDescrFilter": Option<CText<'a>>,
        type_descr_filter "heapProfTypeDescrFilter": Option<CText<'a>>,
        cost_centre_filter "heapProfCostCentreFilter": Option<CText<'a>>,
        cost_centre_stack_filter "heapProfCostCentreStackFilter": Option<CText<'a>>,
        retainer_filter "heapProfRetainerFilter": Option<CText<'a>>,
        biography_filter "heapProfBiographyFilter": Option<CText<'a>>,
    }
    161 Variable HeapProfCostCentre {
        id "heapProfCostCentreId": CostCentreId, label "heapProfLabel": CText<'a>,
        module "heapProfModule": CText<'a>, src_loc "heapProfSrcLoc": CText<'a>,
        flags "heapProfFlags": Option<u8>,
    }
    162 Fixed HeapProfSampleBegin { era "heapProfSampleEra": u64 }
    163 Variable HeapProfSampleCostCentre {
        id "heapProfId": u8, residency "heapProfResidency": u64,
        stack "heapProfStack": CcStack<'a>,
    }
    164 Variable HeapProfSampleString {
        id "heapProfId": u8, residency "heapProfResidency": u64, label "heapProfLabel": CText<'a>,
    }
    165 Fixed HeapProfSampleEnd { era "heapProfSampleEra": u64 }
    166 Fixed HeapBioProfSampleBegin {
        era "heapProfSampleEra": u64, time "heapProfSampleTime": u64,
    }
    167 Variable ProfSampleCostCentre {
        cap "profCap": u32, ticks "profTicks": u64, stack "profCcsStack": CcStack<'a>,
    }
    168 Fixed ProfBegin { tick_interval "profTickInterval": u64 }
    169 Variable InfoTableProv {
        info "itInfo": u64, table_name "itTableName": CText<'a>,
        closure_desc "itClosureDesc": CText<'a>, ty_desc "itTyDesc": CText<'a>,
        label "itLabel": CText<'a>, module "itModule": CText<'a>, src_loc "itSrcLoc": CText<'a>,
    }
    181 Variable UserBinaryMessage { payload "payload": Bytes<'a> }
    200 Fixed ConcMarkBegin {}
    201 Fixed ConcMarkEnd { marked_object_count "concMarkedObjectCount": u32 }
    202 Fixed ConcSyncBegin {}
    203 Fixed ConcSyncEnd {}
    204 Fixed ConcSweepBegin {}
    205 Fixed ConcSweepEnd {}
    206 Fixed ConcUpdRemSetFlush { cap "cap": CapId }
    207 Fixed NonmovingHeapCensus {
        block_bytes "nonmovingCensusBlkSize": BlockBytes,
        active_segments "nonmovingCensusActiveSegs": u32,
        filled_segments "nonmovingCensusFilledSegs": u32,
        live_blocks "nonmovingCensusLiveBlocks": u32,
    }
    208 Fixed NonmovingPrunedSegments {
        pruned "nonmovingPrunedSegments": u32, free "nonmovingFreeSegments": u32,
    }
    210 Variable TickyCounterDef {
        id "tickyCtrDefId": u64, arity "tickyCtrDefArity": u16,
        kinds "tickyCtrDefKinds": CText<'a>, name "tickyCtrDefName": CText<'a>,
        info_tbl "tickyCtrInfoTbl": Option<u64>, json_desc "tickyCtrJsonDesc": Option<CText<'a>>,
    }
    211 Fixed TickyCounterSample {
        id "tickyCtrSampleId": u64, entry_count "tickyCtrSampleEntryCount": u64,
        allocs "tickyCtrSampleAllocs": u64, allocd "tickyCtrSampleAllocd": u64,
    }
    212 Fixed TickyBeginSample {}
}

impl<'a> Event<'a> {
    /// Every field under its name in `ghc-events`, in wire order.
    #[must_use]
    pub fn fields(&self) -> Vec<(&'static str, Value<'a>)> {
        let mut fields = self.table_fields();
        // The depth stands before a stack; a stack knows its own.
        let depth = match self {
            Self::ProfSampleCostCentre { .. } => "profStackDepth",
            Self::HeapProfSampleCostCentre { .. } => "heapProfStackDepth",
            _ => return fields,
        };
        if let Some((_, Value::Numbers(stack))) = fields.last() {
            let depth = (depth, Value::Number(stack.len() as u64));
            fields.insert(fields.len() - 1, depth);
        }
        fields
    }

    /// Decodes a payload. A payload longer than the fields is newer than this
    /// program: the rest is ignored. One that is shorter is an unknown event.
    #[must_use]
    pub fn decode(id: EventType, payload: &'a [u8], stop_codes: StopCodes) -> Self {
        let mut cursor = Cursor::new(payload, stop_codes);
        Self::decode_known(id, &mut cursor).unwrap_or(Self::UnknownEvent { id: id.0, payload })
    }
}

/// The bytes of a block in a census of the nonmoving collector: written as a
/// logarithm in one byte up to GHC 9.8, in bytes as `u16` since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockBytes(pub u64);

impl<'a> Field<'a> for BlockBytes {
    fn read(cursor: &mut Cursor<'a>) -> Option<Self> {
        let three_counts = 12;
        Some(Self(if cursor.remaining() >= 2 + three_counts {
            u64::from(u16::read(cursor)?)
        } else {
            1u64.checked_shl(u32::from(u8::read(cursor)?)).unwrap_or(0)
        }))
    }
    fn value(&self) -> Value<'a> {
        Value::Number(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(id: u16, payload: &[u8]) -> Event<'_> {
        Event::decode(EventType(id), payload, StopCodes::Standard)
    }

    #[test]
    fn appended_fields_may_be_absent_and_surplus_bytes_are_ignored() {
        let short = decode(2, &[0, 0, 0, 7, 0, 8]);
        let full = decode(2, &[0, 0, 0, 7, 0, 8, 0, 0, 0, 9, 99]);
        let name = |event: Event<'_>| match event.fields()[1].1.clone() {
            Value::Name(name) => name,
            other => panic!("{other:?}"),
        };
        assert_eq!(name(short), "BlockedOnBlackHole");
        assert_eq!(name(full), "BlockedOnBlackHoleOwnedBy 9");
    }

    #[test]
    fn a_payload_too_short_is_unknown_with_its_bytes() {
        let event = decode(0, &[0, 0, 1]);
        assert_eq!(
            event,
            Event::UnknownEvent {
                id: 0,
                payload: &[0, 0, 1]
            }
        );
        assert_eq!(event.name(), "UnknownEvent");
    }

    #[test]
    fn both_widths_of_the_census() {
        let log2 = decode(207, &[3, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5]);
        let bytes = decode(207, &[0, 8, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5]);
        assert_eq!(log2, bytes);
    }

    #[test]
    fn text_lists_with_and_without_a_last_nul() {
        let words = |bytes| {
            TextList(bytes)
                .iter()
                .map(|t| t.to_str().into_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(words(b"a\0b\0"), ["a", "b"]);
        assert_eq!(words(b"a\0b"), ["a", "b"]);
        assert_eq!(words(b"a\0\0b"), ["a", "", "b"]);
        assert!(words(b"").is_empty());
    }
}
