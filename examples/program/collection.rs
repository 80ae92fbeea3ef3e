//! Garbage collections of the simulated program.

use std::io::{self, Write};

use super::{MIB, Program, in_heap, words};

impl<W: Write> Program<W> {
    /// Simulates a collection requested by one capability: all stop, work, and continue.
    pub(super) fn collect(&mut self, asks: usize) -> io::Result<()> {
        self.collections += 1;
        let is_major = self.collections.is_multiple_of(64);
        self.runs_to_collection = 500 + self.random.below(520);
        self.write_event(asks, 100, 12, &[])?;
        let asked_ns = self.caps[asks].now_ns;
        for cap in 0..self.caps.len() {
            let now_ns = self.caps[cap].now_ns.max(asked_ns);
            self.caps[cap].now_ns = now_ns + self.random.below(60_000);
            self.write_event(cap, 100, 9, &[])?;
        }
        let mut ended_ns = 0;
        let begun_ns = self.latest_ns();
        let scale = if is_major { 40 } else { 4 };
        for cap in 0..self.caps.len() {
            self.caps[cap].now_ns = begun_ns + self.random.below(15_000);
            self.work_in_collection(cap, scale)?;
            ended_ns = self.caps[cap].now_ns.max(ended_ns);
        }
        for cap in 0..self.caps.len() {
            self.caps[cap].now_ns = ended_ns + 60 * cap as u64;
            let bytes = self.caps[cap].allocated_bytes;
            self.write_event(cap, 100, 49, &in_heap(bytes))?;
        }
        self.heap_numbers(asks, is_major)?;
        for cap in (0..self.caps.len()).filter(|cap| *cap != asks) {
            let late_ns = self.random.below(12_000);
            self.write_event(cap, 1_000 + late_ns, 10, &[])?;
            self.spark_counters(cap)?;
        }
        Ok(())
    }

    /// Writes the events of one capability during a collection.
    fn work_in_collection(&mut self, cap: usize, scale: u64) -> io::Result<()> {
        self.write_event(cap, 500, 21, &[])?;
        let unneeded = self.caps[cap].sparks.in_pool.min(self.random.below(12));
        for _ in 0..unneeded {
            self.write_event(cap, 100, 41, &[])?;
        }
        self.caps[cap].sparks.in_pool -= unneeded;
        self.caps[cap].sparks.collected += unneeded;
        let busy_ns = 2_000 + self.random.below(scale * 100_000);
        self.write_event(cap, busy_ns, 20, &[])?;
        if self.random.below(4) == 0 {
            self.write_event(cap, 2_000, 21, &[])?;
            self.write_event(cap, 2_000, 20, &[])?;
        }
        let wait_ns = self.random.below(20_000);
        self.write_event(cap, 50 + wait_ns, 22, &[])
    }

    /// Writes the heap numbers that the requesting capability logs at the end of a collection.
    fn heap_numbers(&mut self, cap: usize, is_major: bool) -> io::Result<()> {
        let copied_bytes = 4_096 + 8 * self.random.below(if is_major { 400_000 } else { 20_000 });
        let (slop_bytes, lost_bytes) = (41_864, 94_208);
        let threads = self.caps.len() as u64;
        let state = &mut self.caps[cap];
        state.now_ns += 800;
        let ended_ns = state.now_ns;
        // The following events must be in one block, as one of them is dated back.
        state.stream.room(&mut self.out, 200, ended_ns)?;
        self.write_event(cap, 100, 54, &[])?;
        let statistics = [
            &[0, 0, 0, 0, 0, u8::from(is_major)],
            &words(&[copied_bytes, slop_bytes, lost_bytes])[..],
            &(threads as u32).to_be_bytes(),
            &words(&[
                copied_bytes / threads.min(2),
                copied_bytes,
                copied_bytes / 5,
            ]),
        ];
        self.write_event(cap, 50, 53, &statistics.concat())?;
        // The runtime writes the end after the statistics, with its actual time.
        self.count(10);
        let stream = &mut self.caps[cap].stream;
        stream.event(&mut self.out, 10, ended_ns, false, &[])?;
        // The heap grows and shrinks in a period of a few thousand collections.
        let live_mib = 2 + (self.collections % 4_001).abs_diff(2_000) / 40;
        if is_major {
            self.write_event(cap, 300, 51, &in_heap(live_mib * MIB + copied_bytes))?;
        }
        self.write_event(cap, 300, 50, &in_heap((3 * live_mib + 4) * MIB))?;
        self.spark_counters(cap)
    }
}
