/** A moment, in nanoseconds since the program began to log. */
export type Nanos = number;

/** A stretch of time. */
export interface Interval {
  start: Nanos;
  end: Nanos;
}

/** The part of a log that numbers are of. */
export interface LogRange {
  from_ns: Nanos;
  to_ns: Nanos;
}

/** What a metric counts: nanoseconds, bytes, things, a share of 1, or any of these each second. */
export type Unit = 'ns' | 'bytes' | 'count' | 'share' | 'per-second';

/** What a number is about; `null` if nothing in particular. */
export type Subject = { thread: number } | { capability: number } | { collection: number };

/** One number of many, with where it is to be seen. */
export interface Seen {
  value: number;
  range: Interval;
  subject: Subject | null;
}

interface MetricFacts {
  /** Such as `gc.pause`. Names never change. */
  name: string;
  unit: Unit;
  /** Whether less or more of it is better. */
  direction: 'lower' | 'higher' | 'neutral';
  /** Whether it is the same in each run, or depends on the machine. */
  class: 'counted' | 'timed';
  /** Whether there are as many numbers as there were of what it is about. */
  has_many: boolean;
  /** What could choose among its numbers. */
  labels: string[];
  /** What it is, in a sentence. */
  help: string;
  /** Of which part of the log. */
  range: LogRange;
}

/** One number. */
export interface OneNumber extends MetricFacts {
  /** `null` if it is infinite. */
  value: number | null;
}

/** As many numbers as there were of what it is about. */
export interface ManyNumbers extends MetricFacts {
  /** By time. */
  values: number[];
  /** `p50`, `p99` and `max`, of those that there are. */
  ranks: Record<string, Seen>;
}

/** No number. */
export interface NoNumber extends MetricFacts {
  /** Why, and which flag of the runtime helps. */
  no_data: string;
}

/** A metric, and what it is in a log. */
export type Metric = OneNumber | ManyNumbers | NoNumber;

/** A number with its unit; `null` if it is infinite. */
export interface Value {
  unit: 'ns' | 'bytes' | 'count' | 'share' | 'mean' | 'times' | 'per-second';
  value: number | null;
}

/** Something that costs the program time or memory. */
export interface Finding {
  /** The name of the rule that found it. */
  rule: string;
  /** Whom it is about, where one rule may find several things. */
  subject: string | null;
  axis: 'time' | 'latency' | 'memory' | 'log';
  severity: 'minor' | 'low' | 'medium' | 'high';
  confidence: 'hint' | 'probable' | 'certain';
  /** The rule that found its cause, if another finding explains it. */
  explained_by: string | null;
  /** What it costs by itself. */
  cost: Value;
  /** Of time, what no other finding before it claims. */
  claimed_ns: number;
  /** The share of the time, or of the peak of the heap. */
  share: number | null;
  /** What is wrong, with the number. */
  title: string;
  /** What that means. */
  meaning: string;
  /** What to try, the most likely first. */
  tries: {
    kind: 'flag' | 'code' | 'measure';
    /** The flags as they are written, if it is one. */
    flag: string | null;
    text: string;
    /** What it costs. */
    price: string | null;
  }[];
  /** When not to trust it. */
  distrust: string;
  /** The numbers behind it. */
  numbers: [string, Value][];
  /** Where it is to be seen, the worst first. */
  evidence: { range: Interval; subjects: Subject[]; amount: Value }[];
  /** How many such places there are. */
  places: number;
  /** What the amounts of the places count, such as "wakeup"; empty if these have a unit. */
  counted: string;
}

/** A rule without a finding. */
export interface Passed {
  rule: string;
  question: string;
  why: string;
}

/** What took time of capabilities. */
export interface LostTime {
  /** Such as `running`, `collecting`, `gc-sync`, `hand-over`, `serial`; new ones come. */
  cause: string;
  /** Nanoseconds of all capabilities together. */
  cap_ns: number;
  /** The same divided by the number of capabilities. */
  ns: number;
  /** The share of all capability time, 0 to 1. */
  share: number;
  /** What findings claim of it, in nanoseconds of capabilities. */
  claimed_cap_ns: number;
  /** What no finding claims, in nanoseconds of capabilities. */
  unexplained_cap_ns: number;
}

/** A part of a log that stands for all of it. */
export interface Sample {
  range: LogRange;
  /** How many runs of threads the whole range has. */
  of_runs: number;
}

/** A thread that did much of the work. */
export interface BusyThread {
  /** Its number. */
  thread: number;
  /** How long it ran, in nanoseconds. */
  ran_ns: number;
  /** What it waited for longest in sum, such as `MVar`, and for how many nanoseconds; `null` if it was never blocked. */
  longest_wait: { reason: string; ns: number } | null;
}

/** What all rules say of a part of a log. */
export interface Findings {
  range: LogRange;
  findings: Finding[];
  /** Of a log with very many runs of threads: the part that rules which look at each run looked at; else `null`. */
  sample: Sample | null;
  /** Rules that found nothing. */
  clear: Passed[];
  /** Rules that could not tell, with the flag that would help. */
  cannot_tell: Passed[];
  /** How many capabilities there were: the divisor of their times. */
  caps: number;
  /** Where the time of all capabilities went, by cause: rows sum to capabilities × length of the range. */
  lost_time: LostTime[];
  /** Time that was lost and that no finding claims, in nanoseconds of the program. */
  unexplained_ns: number;
  /** Up to three threads that did most of the work, largest first; empty if many share it, or threads ran very often. */
  busiest: BusyThread[];
  /** The command that measures the flags that findings advise; `null` if no flag can be measured, or the log does not name the program. */
  try_command: string | null;
  /** The labels of the busiest threads and of those that findings are about, by the threads' numbers. */
  labels: Record<string, string>;
}

/** What is known of a log. */
export interface Analysis {
  /** The program's name; `null` if the log does not say. */
  program: string | null;
  /** The version of GHC, such as `9.6.6`. */
  ghc: string | null;
  /** How long the log is, uncompressed. */
  bytes: number;
  events: number;
  capabilities: number;
  threads: number;
  /** The first and the last moment; `null` if there are no events. */
  span: Interval | null;
  /** Whether events are missing. */
  damaged: boolean;
  /** Whether it was read to its end: there may have been no memory for more. Then all else is about what was read. */
  complete: boolean;
  /** What is wrong or odd about the log, in sentences; the first of it. */
  warnings: string[];
  /** Every metric: the same as `eventscope metrics --json` prints. */
  metrics: Metric[];
  /** What is wrong with the program: the same as `eventscope findings --json` prints. */
  findings: Findings;
  /**
   * The metrics by name, as assertions name them: `gc.time`, and of those with many numbers `gc.pause.max`.
   * What the log does not tell is not there.
   */
  numbers: Record<string, number>;
}

export interface Options {
  /** Only what was from this moment on. */
  from?: Nanos;
  /** Only what was before this moment. */
  to?: Nanos;
  /** How many bytes of memory the program may have before it reads no further; 3.5 GiB if nothing is said.
   * It can have 4 GiB. */
  memory?: number;
  /** Gives up. */
  signal?: AbortSignal;
  /** Hears how much is read, from 0 to 1. */
  onProgress?: (share: number) => void;
}

/**
 * Reads a log: an eventlog of GHC 6.12 to 9.12, or a heap profile in text, plain or in gzip or zstd.
 *
 * @param file what was dropped or fetched, its bytes, or (in Node.js) the path of a file. Of a file or Blob only pieces
 *   are held in memory.
 * @throws Error if it is no log, or can't be read; RangeError if `to` is before `from`; the reason of `signal`.
 */
export function analyse(
  file: Blob | ArrayBuffer | ArrayBufferView | string | URL,
  options?: Options,
): Promise<Analysis>;
