//! Raw events kept in their order, for analyses that must process them sequentially.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use eventlog::header::Header;
use eventlog::ids::{ByteOffset, CapId, Nanos};
use eventlog::{EventType, Record};

/// Events, concatenated as prefix and payload. Their byte offsets in the file are dropped, as no analysis needs
/// them.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct DeferredEvents {
    #[serde(skip)]
    pub(crate) bytes: Vec<u8>,
    /// Number of events in `bytes`.
    pub(crate) count: u32,
}

impl DeferredEvents {
    /// Bytes before each payload: type (1), capability (2), payload length (2), time (8).
    const PREFIX: usize = 1 + 2 + 2 + 8;
    const NO_CAP: u16 = u16::MAX;

    /// Appends an event whose type is `id`, which is below 256.
    pub(crate) fn push(&mut self, id: u8, record: &Record<'_>) {
        let cap = record.cap.map_or(Self::NO_CAP, |cap| cap.0);
        // The eventlog format stores payload lengths in 16 bits.
        let len = record.payload.len().min(usize::from(u16::MAX));
        let mut prefix = [0; Self::PREFIX];
        prefix[0] = id;
        prefix[1..3].copy_from_slice(&cap.to_le_bytes());
        prefix[3..5].copy_from_slice(&(len as u16).to_le_bytes());
        prefix[5..].copy_from_slice(&record.time.0.to_le_bytes());
        self.bytes.reserve(Self::PREFIX + len);
        self.bytes.extend_from_slice(&prefix);
        self.bytes.extend_from_slice(&record.payload[..len]);
        self.count += 1;
    }

    /// Calls `take` with the index and the record of each event, in order.
    pub(crate) fn each(&self, header: &Arc<Header>, mut take: impl FnMut(u32, &Record<'_>)) {
        let mut rest = &self.bytes[..];
        let mut place = 0;
        while let Some((prefix, behind)) = rest.split_first_chunk::<{ Self::PREFIX }>() {
            let u16_at = |at: usize| u16::from_le_bytes([prefix[at], prefix[at + 1]]);
            let Some((payload, behind)) = behind.split_at_checked(usize::from(u16_at(3))) else {
                return;
            };
            let cap = Some(u16_at(1)).filter(|&cap| cap != Self::NO_CAP);
            let mut time = [0; 8];
            time.copy_from_slice(&prefix[5..]);
            take(
                place,
                &Record {
                    offset: ByteOffset(0),
                    id: EventType(prefix[0].into()),
                    time: Nanos(u64::from_le_bytes(time)),
                    cap: cap.map(CapId),
                    payload,
                    header,
                },
            );
            rest = behind;
            place += 1;
        }
    }
}
