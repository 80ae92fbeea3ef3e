//! Start and end of the simulated program.

use std::io::{self, Write};

use super::{
    ENDLESS, FIRST_TASK, MAIN_THREAD, MIB, Program, WORKERS_PER_CAP, cap_number, stop, words,
};
use crate::container;

impl<W: Write> Program<W> {
    /// Writes the events of the runtime's start, and creates the threads of the program.
    pub(super) fn start(&mut self, bytes: u64) -> io::Result<()> {
        self.global(25, &[0, 0, 0, 0, 0, 2])?;
        self.global(25, &[0, 0, 0, 1, 0, 3])?;
        for cap in 0..self.caps.len() {
            let number = cap_number(cap);
            self.global(45, &number)?;
            self.global(27, &[&[0; 4], &number[..]].concat())?;
            self.global(27, &[&[0, 0, 0, 1], &number[..]].concat())?;
            self.spark_counters(cap)?;
        }
        let clock = [&[0, 0, 0, 1], &words(&[1_700_000_000])[..], &[0; 4]];
        self.global(43, &clock.concat())?;
        self.global(32, &[0, 0, 0, 0, 0, 0, 0x30, 0x39])?;
        self.global(33, &[0, 0, 0, 0, 0, 0, 0x30, 0x38])?;
        self.global(29, b"\0\0\0\0GHC-9.0.2 rts_thr_l")?;
        let arguments = format!(
            "\0\0\0\0big-log\0{bytes}\0+RTS\0-N{}\0-l\0-RTS\0",
            self.caps.len()
        );
        self.global(30, arguments.as_bytes())?;
        let heap = words(&[0, 4 * MIB, MIB, 4096]);
        self.global(52, &[&[0, 0, 0, 0, 0, 2], &heap[..]].concat())?;
        for cap in 0..self.caps.len() {
            let task = words(&[FIRST_TASK + 0x80_1000 * cap as u64]);
            let os_thread = words(&[12_345 + cap as u64]);
            self.global(55, &[&task[..], &cap_number(cap), &os_thread].concat())?;
        }
        self.write_event(0, 4_000, 0, &self.next_thread.to_be_bytes())?;
        self.next_thread += 1;
        self.write_event(0, 3_000, 1, &MAIN_THREAD.to_be_bytes())?;
        self.write_text_event(0, 44, b"\0\0\0\x01main thread")?;
        self.write_text_event(0, 58, b"begin")?;
        for number in 0..WORKERS_PER_CAP * self.caps.len() {
            let worker = self.create(0, ENDLESS)?;
            self.label(0, worker.thread, &format!("worker {number}"))?;
            self.enqueue(0, number % self.caps.len(), worker)?;
        }
        self.stop(0, MAIN_THREAD, stop::MVAR, 0)
    }

    /// Ends the program: finishes all threads and writes all buffers.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.is_closing = true;
        let now_ns = self.latest_ns() + 1_000;
        for cap in &mut self.caps {
            cap.now_ns = now_ns;
        }
        while !self.waiting.is_empty() {
            self.wake(0)?;
        }
        while self.caps.iter().any(|cap| !cap.queue.is_empty()) {
            self.step()?;
        }
        self.caps[0].now_ns = self.latest_ns();
        self.send(0, 8, MAIN_THREAD, 0)?;
        self.write_event(0, 5_000, 1, &MAIN_THREAD.to_be_bytes())?;
        self.write_text_event(0, 58, b"end")?;
        self.stop(0, MAIN_THREAD, stop::FINISHED, 0)?;
        self.global_ns = self.latest_ns() + 1_000_000;
        for cap in 0..self.caps.len() {
            self.spark_counters(cap)?;
            let task = FIRST_TASK + 0x80_1000 * cap as u64;
            self.global(57, &words(&[task]))?;
        }
        for cap in 0..self.caps.len() {
            let number = cap_number(cap);
            self.global(28, &[&[0; 4], &number[..]].concat())?;
            self.global(28, &[&[0, 0, 0, 1], &number[..]].concat())?;
            self.global(46, &number)?;
        }
        self.global(26, &[0, 0, 0, 0])?;
        self.global(26, &[0, 0, 0, 1])?;
        for cap in &mut self.caps {
            cap.stream.flush(&mut self.out)?;
        }
        self.global.flush(&mut self.out)?;
        container::end(&mut self.out)
    }
}
