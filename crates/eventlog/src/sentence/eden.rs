//! Events of Eden, the distributed dialect of Haskell: machines, processes and messages between them.

use std::fmt::{self, Write};

use super::Thread;
use crate::event::Event;
use crate::names::Names;

pub(super) fn write(out: &mut String, event: &Event<'_>, names: &Names) -> fmt::Result {
    use Event as E;
    match *event {
        E::EdenStartReceive {} => out.write_str("begins to receive messages"),
        E::EdenEndReceive {} => out.write_str("is done receiving messages"),
        E::CreateProcess { process } => write!(out, "creates process {process}"),
        E::KillProcess { process } => write!(out, "ends process {process}"),
        E::AssignThreadToProcess { thread, process } => {
            write!(
                out,
                "{} belongs to process {process}",
                Thread(thread, names)
            )
        }
        E::CreateMachine { machine, realtime } => {
            write!(
                out,
                "machine {machine} is created, its clock says {realtime}"
            )
        }
        E::KillMachine { machine } => write!(out, "machine {machine} ends"),
        E::SendMessage {
            tag,
            sender_process,
            sender_thread,
            receiver_machine,
            receiver_process,
            receiver_inport,
        } => write!(
            out,
            "sends a message ({}) from process {sender_process}, thread {sender_thread} to machine {receiver_machine}, process {receiver_process}, inport {receiver_inport}",
            tag.name()
        ),
        E::ReceiveMessage {
            tag,
            receiver_process,
            receiver_inport,
            sender_machine,
            sender_process,
            sender_thread,
            message_size,
        } => write!(
            out,
            "receives a message ({}) of size {message_size} for process {receiver_process}, inport {receiver_inport} from machine {sender_machine}, process {sender_process}, thread {sender_thread}",
            tag.name()
        ),
        E::SendReceiveLocalMessage {
            tag,
            sender_process,
            sender_thread,
            receiver_process,
            receiver_inport,
        } => write!(
            out,
            "passes a message ({}) from process {sender_process}, thread {sender_thread} to process {receiver_process}, inport {receiver_inport} of the same machine",
            tag.name()
        ),
        _ => Ok(()),
    }
}
