//! All events that GHC 6.12 to 9.12 write, in one table: number, name in the runtime, subject, and fields in wire
//! order.
//!
//! One event is not GHC's: `eventscope cut` writes `CutRange` (240), which other programs skip by the size that
//! the header declares. Its payload is four big-endian `u64` times on the log's clock, in nanoseconds, 32 bytes:
//!
//! | bytes | field | meaning |
//! |---|---|---|
//! | 0–7 | `from` | start of the range that the log was cut to; 0 without one |
//! | 8–15 | `to` | end of the range, exclusive; `u64::MAX` without one |
//! | 16–23 | `first` | first event of the original log |
//! | 24–31 | `last` | last event of the original log |
//!
//! There is one such event without a capability, and one in the blocks of each capability, with the first and last
//! event of that capability. Events with a time outside the range only define the state inside it and are not
//! counted.
//!
//! The table generates the [`Event`] enum, its decoder, the listing of its fields, an [`EventType`] constant for
//! each number, and the type sets ([`EventSet`](crate::EventSet)) that select the events for a part of the
//! program. Event numbers appear nowhere else.
//!
//! Names of events and fields are those of `ghc-events`. Numbers, layouts and names of constants are those of the
//! runtime's `EventLogFormat.h` (`rts/include/rts`, before GHC 9.2 `includes/rts`), without `EVENT_`.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::cursor::{
    Bytes, CText, CapsetType, CcStack, Cursor, Field, FieldExtent, FieldKind, HeapBreakdown,
    MessageTag, Text, TextList, Value,
};
use super::status::{StopCodes, StopStatus};
use crate::ids::{CapId, CapsetId, CostCentreId, OsThreadId, TaskId, ThreadId};

/// Event type number, as declared in the header. Types in the table have constants with the runtime's names.
///
/// ```
/// use eventlog::EventType;
///
/// assert_eq!(EventType::STOP_THREAD.name(), Some("StopThread"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct EventType(pub u16);

/// Whether the payloads of a type have one size or carry a length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeClass {
    /// The header declares the size.
    Fixed,
    /// A `u16` length precedes the payload.
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
        $id:literal $constant:ident $class:ident $subject:ident $name:ident $(= $alias:literal)? {
            $( $field:ident $key:literal : $ty:ty ),* $(,)?
        }
    )*) => {
        /// One decoded event. Fields have the units of the wire: nanoseconds, bytes, counts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Event<'a> {
            $(
                #[doc = concat!("Event type ", $id, ".")]
                $name {
                    $( #[doc = concat!("`", $key, "` in `ghc-events`.")] $field: $ty, )*
                },
            )*
            /// An event of unknown type, or with a payload too short for its type.
            UnknownEvent {
                /// Event type number.
                id: u16,
                /// The undecoded payload.
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

            /// Returns the constructor's name in `ghc-events`.
            pub const fn name(&self) -> &'static str {
                match self {
                    $( Self::$name { .. } => name_or!($name $($alias)?), )*
                    Self::UnknownEvent { .. } => "UnknownEvent",
                }
            }

            /// Returns the subject area; `None` if the type is unknown.
            pub const fn subject(&self) -> Option<Subject> {
                match self {
                    $( Self::$name { .. } => Some(Subject::$subject), )*
                    Self::UnknownEvent { .. } => None,
                }
            }

            /// Whether the first field of this type's events is a thread.
            pub(super) const fn has_leading_thread(id: EventType) -> bool {
                match id.0 {
                    $( $id => matches!([$( <$ty as Field<'a>>::IS_THREAD ),*].as_slice(), [true, ..]), )*
                    _ => false,
                }
            }

            /// Compares the end of the fields with the length of the payload.
            fn shape(id: EventType, payload: &'a [u8]) -> Shape {
                let mut cursor = Cursor::new(payload, StopCodes::Standard);
                let (mut last, mut takes) = (0, FieldExtent::SelfDelimited);
                match id.0 {
                    $( $id => {
                        $(
                            last = payload.len() - cursor.remaining();
                            takes = <$ty as Field<'a>>::EXTENT;
                            if cursor.field::<$ty>().is_none() {
                                return Shape::Unknown;
                            }
                        )*
                    } )*
                    _ => return Shape::Unknown,
                }
                let ends = match takes {
                    FieldExtent::SelfDelimited => Some(payload.len() - cursor.remaining()),
                    FieldExtent::Text => memchr::memchr(0, &payload[last..]).map(|nul| last + nul),
                    FieldExtent::RestBytes => return Shape::Unknown,
                };
                ends.filter(|&end| end < payload.len()).map_or(Shape::Whole, Shape::Ends)
            }

            /// Calls `found` with the name, byte range and kind of each field of a payload. Returns whether the
            /// payload has all fields that GHC writes for the type.
            pub fn locate(
                id: EventType,
                payload: &'a [u8],
                mut found: impl FnMut(&'static str, Range<usize>, FieldKind),
            ) -> bool {
                let mut cursor = Cursor::new(payload, StopCodes::Standard);
                match id.0 {
                    $( $id => {
                        $(
                            let from = payload.len() - cursor.remaining();
                            if cursor.field::<$ty>().is_none() {
                                return false;
                            }
                            let to = payload.len() - cursor.remaining();
                            found($key, from..to, <$ty as Field<'a>>::KIND);
                        )*
                        let _ = (&mut cursor, &mut found);
                        true
                    } )*
                    _ => false,
                }
            }

            const fn min_payload_bytes(id: EventType) -> Option<u16> {
                match id.0 {
                    $( $id => Some(0 $( + <$ty as Field<'a>>::MIN_BYTES )*), )*
                    _ => None,
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
            $(
                #[doc = concat!("The type of [`Event::", stringify!($name), "`].")]
                pub const $constant: Self = Self($id);
            )*

            /// All types in the table, by number.
            pub const ALL: &[Self] = &[$( Self($id) ),*];

            /// Returns the subject area of this type's events, if it is known.
            pub const fn subject(self) -> Option<Subject> {
                match self.0 {
                    $( $id => Some(Subject::$subject), )*
                    _ => None,
                }
            }

            /// Returns the name of this type's events, if it is known.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $( $id => Some(name_or!($name $($alias)?)), )*
                    _ => None,
                }
            }

            /// Returns the size class that this program expects of the type.
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
    0 CREATE_THREAD Fixed Scheduling CreateThread { thread "thread": ThreadId }
    1 RUN_THREAD Fixed Scheduling RunThread { thread "thread": ThreadId }
    2 STOP_THREAD Fixed Scheduling StopThread {
        thread "thread": ThreadId, status "status": StopStatus,
    }
    3 THREAD_RUNNABLE Fixed Scheduling ThreadRunnable { thread "thread": ThreadId }
    4 MIGRATE_THREAD Fixed Scheduling MigrateThread {
        thread "thread": ThreadId, new_cap "newCap": CapId,
    }
    5 RUN_SPARK Fixed Spark RunSpark = "SparkRun" { thread "thread": ThreadId }
    6 STEAL_SPARK Fixed Spark StealSpark = "SparkSteal" {
        thread "thread": ThreadId, victim_cap "victimCap": CapId,
    }
    7 SHUTDOWN Fixed Capability Shutdown {}
    8 THREAD_WAKEUP Fixed Scheduling WakeupThread {
        thread "thread": ThreadId, other_cap "otherCap": CapId,
    }
    9 GC_START Fixed Collection StartGC {}
    10 GC_END Fixed Collection EndGC {}
    11 REQUEST_SEQ_GC Fixed Collection RequestSeqGC {}
    12 REQUEST_PAR_GC Fixed Collection RequestParGC {}
    15 CREATE_SPARK_THREAD Fixed Spark CreateSparkThread { spark_thread "sparkThread": ThreadId }
    16 LOG_MSG Variable Message Message { msg "msg": Text<'a> }
    17 STARTUP Fixed Capability Startup { n_caps "n_caps": u16 }
    19 USER_MSG Variable Message UserMessage { msg "msg": Text<'a> }
    20 GC_IDLE Fixed Collection GCIdle {}
    21 GC_WORK Fixed Collection GCWork {}
    22 GC_DONE Fixed Collection GCDone {}
    23 VERSION Variable Process Version { version "version": Text<'a> }
    24 PROGRAM_INVOCATION Variable Process ProgramInvocation { commandline "commandline": Text<'a> }
    25 CAPSET_CREATE Fixed Process CapsetCreate {
        capset "capset": CapsetId, capset_type "capsetType": CapsetType,
    }
    26 CAPSET_DELETE Fixed Process CapsetDelete { capset "capset": CapsetId }
    27 CAPSET_ASSIGN_CAP Fixed Process CapsetAssignCap {
        capset "capset": CapsetId, cap "cap": CapId,
    }
    28 CAPSET_REMOVE_CAP Fixed Process CapsetRemoveCap {
        capset "capset": CapsetId, cap "cap": CapId,
    }
    29 RTS_IDENTIFIER Variable Process RtsIdentifier {
        capset "capset": CapsetId, rtsident "rtsident": Text<'a>,
    }
    30 PROGRAM_ARGS Variable Process ProgramArgs {
        capset "capset": CapsetId, args "args": TextList<'a>,
    }
    31 PROGRAM_ENV Variable Process ProgramEnv {
        capset "capset": CapsetId, env "env": TextList<'a>,
    }
    32 OSPROCESS_PID Fixed Process OsProcessPid { capset "capset": CapsetId, pid "pid": u32 }
    33 OSPROCESS_PPID Fixed Process OsProcessParentPid {
        capset "capset": CapsetId, ppid "ppid": u32,
    }
    34 SPARK_COUNTERS Fixed Spark SparkCounters {
        created "sparksCreated": u64, dud "sparksDud": u64, overflowed "sparksOverflowed": u64,
        converted "sparksConverted": u64, gcd "sparksGCd": u64, fizzled "sparksFizzled": u64,
        remaining "sparksRemaining": u64,
    }
    35 SPARK_CREATE Fixed Spark SparkCreate {}
    36 SPARK_DUD Fixed Spark SparkDud {}
    37 SPARK_OVERFLOW Fixed Spark SparkOverflow {}
    38 SPARK_RUN Fixed Spark SparkRun {}
    39 SPARK_STEAL Fixed Spark SparkSteal { victim_cap "victimCap": CapId }
    40 SPARK_FIZZLE Fixed Spark SparkFizzle {}
    41 SPARK_GC Fixed Spark SparkGC {}
    42 INTERN_STRING Variable Mercury InternString { str "str": CText<'a>, id "sId": u32 }
    43 WALL_CLOCK_TIME Fixed Process WallClockTime {
        capset "capset": CapsetId, sec "sec": u64, nsec "nsec": u32,
    }
    44 THREAD_LABEL Variable Scheduling ThreadLabel {
        thread "thread": ThreadId, label "threadlabel": Text<'a>,
    }
    45 CAP_CREATE Fixed Capability CapCreate { cap "cap": CapId }
    46 CAP_DELETE Fixed Capability CapDelete { cap "cap": CapId }
    47 CAP_DISABLE Fixed Capability CapDisable { cap "cap": CapId }
    48 CAP_ENABLE Fixed Capability CapEnable { cap "cap": CapId }
    49 HEAP_ALLOCATED Fixed Heap HeapAllocated {
        heap_capset "heapCapset": CapsetId, alloc_bytes "allocBytes": u64,
    }
    50 HEAP_SIZE Fixed Heap HeapSize {
        heap_capset "heapCapset": CapsetId, size_bytes "sizeBytes": u64,
    }
    51 HEAP_LIVE Fixed Heap HeapLive {
        heap_capset "heapCapset": CapsetId, live_bytes "liveBytes": u64,
    }
    52 HEAP_INFO_GHC Fixed Heap HeapInfoGHC {
        heap_capset "heapCapset": CapsetId, gens "gens": u16, max_heap_size "maxHeapSize": u64,
        alloc_area_size "allocAreaSize": u64, mblock_size "mblockSize": u64,
        block_size "blockSize": u64,
    }
    53 GC_STATS_GHC Fixed Collection GCStatsGHC {
        heap_capset "heapCapset": CapsetId, gen_no "gen": u16, copied "copied": u64,
        slop "slop": u64, frag "frag": u64, par_n_threads "parNThreads": u32,
        par_max_copied "parMaxCopied": u64, par_tot_copied "parTotCopied": u64,
        par_balanced_copied "parBalancedCopied": Option<u64>,
    }
    54 GC_GLOBAL_SYNC Fixed Collection GlobalSyncGC {}
    55 TASK_CREATE Fixed Task TaskCreate {
        task "taskId": TaskId, cap "cap": CapId, tid "tid": OsThreadId,
    }
    56 TASK_MIGRATE Fixed Task TaskMigrate {
        task "taskId": TaskId, cap "cap": CapId, new_cap "new_cap": CapId,
    }
    57 TASK_DELETE Fixed Task TaskDelete { task "taskId": TaskId }
    58 USER_MARKER Variable Message UserMarker { markername "markername": Text<'a> }
    60 EDEN_START_RECEIVE Fixed Eden EdenStartReceive {}
    61 EDEN_END_RECEIVE Fixed Eden EdenEndReceive {}
    62 CREATE_PROCESS Fixed Eden CreateProcess { process "process": u32 }
    63 KILL_PROCESS Fixed Eden KillProcess { process "process": u32 }
    64 ASSIGN_THREAD_TO_PROCESS Fixed Eden AssignThreadToProcess {
        thread "thread": ThreadId, process "process": u32,
    }
    65 CREATE_MACHINE Fixed Eden CreateMachine { machine "machine": u16, realtime "realtime": u64 }
    66 KILL_MACHINE Fixed Eden KillMachine { machine "machine": u16 }
    67 SEND_MESSAGE Fixed Eden SendMessage {
        tag "mesTag": MessageTag, sender_process "senderProcess": u32,
        sender_thread "senderThread": u32, receiver_machine "receiverMachine": u16,
        receiver_process "receiverProcess": u32, receiver_inport "receiverInport": u32,
    }
    68 RECEIVE_MESSAGE Fixed Eden ReceiveMessage {
        tag "mesTag": MessageTag, receiver_process "receiverProcess": u32,
        receiver_inport "receiverInport": u32, sender_machine "senderMachine": u16,
        sender_process "senderProcess": u32, sender_thread "senderThread": u32,
        message_size "messageSize": u32,
    }
    69 SEND_RECEIVE_LOCAL_MESSAGE Fixed Eden SendReceiveLocalMessage {
        tag "mesTag": MessageTag, sender_process "senderProcess": u32,
        sender_thread "senderThread": u32, receiver_process "receiverProcess": u32,
        receiver_inport "receiverInport": u32,
    }
    90 MEM_RETURN Fixed Heap MemReturn {
        heap_capset "heapCapset": CapsetId, current "current": u32, needed "needed": u32,
        returned "returned": u32,
    }
    91 BLOCKS_SIZE Fixed Heap BlocksSize {
        heap_capset "heapCapset": CapsetId, blocks_size "blocksSize": u64,
    }
    100 MER_START_PAR_CONJUNCTION Fixed Mercury MerStartParConjunction {
        dyn_id "dyn_id": u64, static_id "static_id": u32,
    }
    101 MER_STOP_PAR_CONJUNCTION Fixed Mercury MerEndParConjunction { dyn_id "dyn_id": u64 }
    102 MER_STOP_PAR_CONJUNCT Fixed Mercury MerEndParConjunct { dyn_id "dyn_id": u64 }
    103 MER_CREATE_SPARK Fixed Mercury MerCreateSpark {
        dyn_id "dyn_id": u64, spark_id "spark_id": u32,
    }
    104 MER_FUT_CREATE Fixed Mercury MerFutureCreate {
        future_id "future_id": u64, name_id "name_id": u32,
    }
    105 MER_FUT_WAIT_NOSUSPEND Fixed Mercury MerFutureWaitNosuspend { future_id "future_id": u64 }
    106 MER_FUT_WAIT_SUSPENDED Fixed Mercury MerFutureWaitSuspended { future_id "future_id": u64 }
    107 MER_FUT_SIGNAL Fixed Mercury MerFutureSignal { future_id "future_id": u64 }
    108 MER_LOOKING_FOR_GLOBAL_CONTEXT Fixed Mercury MerLookingForGlobalThread {}
    109 MER_WORK_STEALING Fixed Mercury MerWorkStealing {}
    110 MER_RELEASE_CONTEXT Fixed Mercury MerReleaseThread { thread_id "thread_id": u32 }
    111 MER_ENGINE_SLEEPING Fixed Mercury MerCapSleeping {}
    112 MER_LOOKING_FOR_LOCAL_SPARK Fixed Mercury MerLookingForLocalSpark {}
    113 MER_CALLING_MAIN Fixed Mercury MerCallingMain {}
    140 PERF_NAME Variable Perf PerfName { perf_num "perfNum": u32, name "name": Text<'a> }
    141 PERF_COUNTER Fixed Perf PerfCounter {
        perf_num "perfNum": u32, tid "tid": OsThreadId, period "period": u64,
    }
    142 PERF_TRACEPOINT Fixed Perf PerfTracepoint { perf_num "perfNum": u32, tid "tid": OsThreadId }
    160 HEAP_PROF_BEGIN Variable HeapProfile HeapProfBegin {
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
    161 HEAP_PROF_COST_CENTRE Variable HeapProfile HeapProfCostCentre {
        id "heapProfCostCentreId": CostCentreId, label "heapProfLabel": CText<'a>,
        module "heapProfModule": CText<'a>, src_loc "heapProfSrcLoc": CText<'a>,
        flags "heapProfFlags": Option<u8>,
    }
    162 HEAP_PROF_SAMPLE_BEGIN Fixed HeapProfile HeapProfSampleBegin {
        era "heapProfSampleEra": u64,
    }
    163 HEAP_PROF_SAMPLE_COST_CENTRE Variable HeapProfile HeapProfSampleCostCentre {
        id "heapProfId": u8, residency "heapProfResidency": u64,
        stack "heapProfStack": CcStack<'a>,
    }
    164 HEAP_PROF_SAMPLE_STRING Variable HeapProfile HeapProfSampleString {
        id "heapProfId": u8, residency "heapProfResidency": u64, label "heapProfLabel": CText<'a>,
    }
    165 HEAP_PROF_SAMPLE_END Fixed HeapProfile HeapProfSampleEnd { era "heapProfSampleEra": u64 }
    166 HEAP_BIO_PROF_SAMPLE_BEGIN Fixed HeapProfile HeapBioProfSampleBegin {
        era "heapProfSampleEra": u64, time "heapProfSampleTime": u64,
    }
    167 PROF_SAMPLE_COST_CENTRE Variable Profile ProfSampleCostCentre {
        cap "profCap": u32, ticks "profTicks": u64, stack "profCcsStack": CcStack<'a>,
    }
    168 PROF_BEGIN Fixed Profile ProfBegin { tick_interval "profTickInterval": u64 }
    169 IPE Variable Profile InfoTableProv {
        info "itInfo": u64, table_name "itTableName": CText<'a>,
        closure_desc "itClosureDesc": CText<'a>, ty_desc "itTyDesc": CText<'a>,
        label "itLabel": CText<'a>, module "itModule": CText<'a>, src_loc "itSrcLoc": CText<'a>,
    }
    181 USER_BINARY_MSG Variable Message UserBinaryMessage { payload "payload": Bytes<'a> }
    200 CONC_MARK_BEGIN Fixed Nonmoving ConcMarkBegin {}
    201 CONC_MARK_END Fixed Nonmoving ConcMarkEnd {
        marked_object_count "concMarkedObjectCount": u32,
    }
    202 CONC_SYNC_BEGIN Fixed Nonmoving ConcSyncBegin {}
    203 CONC_SYNC_END Fixed Nonmoving ConcSyncEnd {}
    204 CONC_SWEEP_BEGIN Fixed Nonmoving ConcSweepBegin {}
    205 CONC_SWEEP_END Fixed Nonmoving ConcSweepEnd {}
    206 CONC_UPD_REM_SET_FLUSH Fixed Nonmoving ConcUpdRemSetFlush { cap "cap": CapId }
    207 NONMOVING_HEAP_CENSUS Fixed Nonmoving NonmovingHeapCensus {
        block_bytes "nonmovingCensusBlkSize": BlockBytes,
        active_segments "nonmovingCensusActiveSegs": u32,
        filled_segments "nonmovingCensusFilledSegs": u32,
        live_blocks "nonmovingCensusLiveBlocks": u32,
    }
    208 NONMOVING_PRUNED_SEGMENTS Fixed Nonmoving NonmovingPrunedSegments {
        pruned "nonmovingPrunedSegments": u32, free "nonmovingFreeSegments": u32,
    }
    210 TICKY_COUNTER_DEF Variable Ticky TickyCounterDef {
        id "tickyCtrDefId": u64, arity "tickyCtrDefArity": u16,
        kinds "tickyCtrDefKinds": CText<'a>, name "tickyCtrDefName": CText<'a>,
        info_tbl "tickyCtrInfoTbl": Option<u64>, json_desc "tickyCtrJsonDesc": Option<CText<'a>>,
    }
    211 TICKY_COUNTER_SAMPLE Fixed Ticky TickyCounterSample {
        id "tickyCtrSampleId": u64, entry_count "tickyCtrSampleEntryCount": u64,
        allocs "tickyCtrSampleAllocs": u64, allocd "tickyCtrSampleAllocd": u64,
    }
    212 TICKY_BEGIN_SAMPLE Fixed Ticky TickyBeginSample {}
    240 CUT_RANGE Fixed Process CutRange {
        from "from": u64, to "to": u64, first "first": u64, last "last": u64,
    }
}

/// Relation between the end of the fields and the length of a payload, which may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// The fields fill the payload.
    Whole,
    /// The fields end at this offset, before the payload does.
    Ends(usize),
    /// The fields do not determine the length.
    Unknown,
}

/// Subject area of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Creation, scheduling and blocking of threads.
    Scheduling,
    /// Garbage collections and their phases.
    Collection,
    /// Creation and fate of sparks.
    Spark,
    /// Texts and bytes written by the program or the runtime.
    Message,
    /// Creation, deletion, enabling and disabling of capabilities.
    Capability,
    /// The process: startup, capability sets, wall clock.
    Process,
    /// Size of the heap.
    Heap,
    /// Tasks, the runtime's OS threads.
    Task,
    /// Processes and machines of Eden, a distributed Haskell.
    Eden,
    /// Mercury's runtime, which writes the same format.
    Mercury,
    /// Counters of Linux `perf`.
    Perf,
    /// Heap profiles and their cost centres.
    HeapProfile,
    /// Time profiles and info tables.
    Profile,
    /// Phases and census of the nonmoving collector.
    Nonmoving,
    /// Ticky-ticky counters.
    Ticky,
}

impl EventType {
    /// Marker that begins a block. The reader consumes it; it is not an event of the program.
    pub const BLOCK_MARKER: Self = Self(18);
    /// Type that GHC 7.8.3 and later declare but never write: it marks that a thread's stop codes are not those of
    /// 7.8.1 and 7.8.2 (GHC #9003).
    pub const HACK_BUG_T9003: Self = Self(59);

    /// Returns the minimum payload size in bytes, without fields that can be empty or that only newer GHCs write.
    /// `None` if the type is unknown.
    pub const fn min_payload_bytes(self) -> Option<u16> {
        Event::min_payload_bytes(self)
    }

    /// Compares the end of the fields with the length of a payload of this type.
    pub(super) fn shape(self, payload: &[u8]) -> Shape {
        Event::shape(self, payload)
    }
}

impl<'a> Event<'a> {
    /// Returns all fields with their names in `ghc-events`, in wire order.
    pub fn fields(&self) -> Vec<(&'static str, Value<'a>)> {
        let mut fields = self.table_fields();
        // The wire has the stack's depth before the stack; the decoded stack includes it.
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

    /// Decodes a payload. Surplus bytes, as newer GHCs may write, are ignored. A payload that is too short becomes
    /// an unknown event.
    pub fn decode(id: EventType, payload: &'a [u8], stop_codes: StopCodes) -> Self {
        let mut cursor = Cursor::new(payload, stop_codes);
        Self::decode_known(id, &mut cursor).unwrap_or(Self::UnknownEvent { id: id.0, payload })
    }
}

/// Block size in a census of the nonmoving collector. Up to GHC 9.8 it is written as a logarithm in one byte,
/// since then in bytes as `u16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockBytes(pub u64);

impl<'a> Field<'a> for BlockBytes {
    const MIN_BYTES: u16 = 1;
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
    fn the_range_of_a_cut_is_four_times() {
        let bytes = [1_u64, 2, 3, u64::MAX].map(u64::to_be_bytes).concat();
        let event = Event::CutRange {
            from: 1,
            to: 2,
            first: 3,
            last: u64::MAX,
        };
        assert_eq!(decode(240, &bytes), event);
        assert_eq!(EventType::CUT_RANGE.min_payload_bytes(), Some(32));
        assert!(matches!(
            decode(240, &bytes[..31]),
            Event::UnknownEvent { .. }
        ));
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
