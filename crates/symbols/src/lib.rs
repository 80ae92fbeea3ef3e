#![doc = include_str!("../README.md")]

mod load;
mod name;
mod nm;
mod object_file;
mod table;
mod zcode;

use std::io::{Read, Seek, SeekFrom};

pub use load::Load;
pub use name::Name;
use nm::NmText;
use object_file::ObjectFile;
use table::Table;

use eventlog::ids::Address;
use eventlog::system_words;

/// How much of a file tells what it is.
pub const MAGIC_BYTES: usize = 4096;

/// What a file of symbols is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An executable of Linux and its relatives.
    Elf,
    /// An executable of macOS.
    MachO,
    /// Several of these for different machines in one file.
    Universal,
    /// An executable of Windows.
    Pe,
    /// What `nm` prints.
    Nm,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Elf => "ELF file",
            Self::MachO => "Mach-O file",
            Self::Universal => "universal Mach-O file",
            Self::Pe => "PE file",
            Self::Nm => "output of nm",
        })
    }
}

/// What a file is that begins with these bytes; `None` if it has no symbols
/// that can be read. An eventlog is none of these.
#[must_use]
pub fn kind(first_bytes: &[u8]) -> Option<Kind> {
    let magic = first_bytes.first_chunk::<4>();
    Some(match magic {
        Some(b"\x7fELF") => Kind::Elf,
        Some([0xCE | 0xCF, 0xFA, 0xED, 0xFE] | [0xFE, 0xED, 0xFA, 0xCE | 0xCF]) => Kind::MachO,
        Some([0xCA, 0xFE, 0xBA, 0xBE | 0xBF]) => Kind::Universal,
        Some([b'M', b'Z', ..]) => Kind::Pe,
        _ if nm::looks_like(first_bytes) => Kind::Nm,
        _ => return None,
    })
}

/// Whether a file that begins with these bytes is an executable or the output
/// of `nm`, rather than an eventlog. [`MAGIC_BYTES`] are enough.
#[must_use]
pub fn is_symbols(first_bytes: &[u8]) -> bool {
    kind(first_bytes).is_some()
}

/// Why a file has no names to give.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymbolsError {
    /// It is nothing that is known.
    #[error(
        "The file is no executable (ELF, Mach-O or PE) and no output of nm. Take the program that wrote the log, or the output of “nm PROGRAM”."
    )]
    Unknown,
    /// It is for several machines.
    #[error(
        "The file holds programs for several machines. Take one of them out with “lipo -thin”, or take the output of “nm PROGRAM”."
    )]
    Universal,
    /// It is not linked.
    #[error(
        "The {0} is not linked yet, so its addresses are not those of a program. Take the program that wrote the log."
    )]
    NotLinked(Kind),
    /// It has no symbols.
    #[error(
        "The {0} has no symbols: it is stripped. Take the program as the linker made it, or its file of debug information."
    )]
    Stripped(Kind),
    /// It is damaged, or of a form that is not known.
    #[error(
        "The {kind} cannot be read: {why} (near byte {at}). Take an undamaged copy, or the output of “nm PROGRAM”."
    )]
    Broken {
        /// What it begins like.
        kind: Kind,
        /// The last place that was read.
        at: u64,
        /// What is wrong.
        why: String,
    },
    /// The system does not let it be read.
    #[error("Byte {at} of the file cannot be read: {why}. Choose the file again.")]
    Read {
        /// The byte at which reading failed.
        at: u64,
        /// What the system says.
        why: String,
    },
}

/// The addresses of a log that have no names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Where functions begin.
    pub functions: Vec<Address>,
    /// Anywhere in the code.
    pub code: Vec<Address>,
}

/// The names of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Naming {
    /// Where the program was loaded.
    pub load: Load,
    /// Those that have a name, in the order in which they are wanted.
    pub names: Vec<(Address, Name)>,
}

/// An address and its symbol.
#[derive(Clone, Copy, Debug)]
struct Found {
    address: Address,
    /// The address that it has in the file.
    in_file: u64,
    /// The number of its symbol in the file.
    symbol: u32,
    /// Whether it is of Haskell code.
    haskell: bool,
}

/// Where the names of a table are.
#[derive(Debug)]
enum Names {
    Object(ObjectFile),
    Nm(NmText),
}

/// The symbols of a program.
#[derive(Debug)]
pub struct Symbols<R> {
    file: R,
    kind: Kind,
    table: Table,
    names: Names,
}

impl<R: Read + Seek> Symbols<R> {
    /// Reads the table of symbols of an executable, or the output of `nm`.
    ///
    /// # Errors
    /// If it is neither, is damaged or has no symbols.
    pub fn read(mut file: R) -> Result<Self, SymbolsError> {
        let first = first_bytes(&mut file)?;
        let kind = kind(&first).ok_or(SymbolsError::Unknown)?;
        let (table, names) = match kind {
            Kind::Universal => return Err(SymbolsError::Universal),
            Kind::Nm => {
                let (table, text) = nm::read(&mut file)?;
                (table, Names::Nm(text))
            }
            Kind::Elf | Kind::MachO | Kind::Pe => {
                let (table, object) = object_file::read(&mut file, kind)?;
                (table, Names::Object(object))
            }
        };
        if table.is_empty() {
            return Err(SymbolsError::Stripped(kind));
        }
        Ok(Self {
            file,
            kind,
            table,
            names,
        })
    }

    /// What the file is.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// How many symbols it has.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether it has none; then it is not read at all.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Names addresses. If the file does not fit, nothing has a name.
    ///
    /// # Errors
    /// If the file can no longer be read.
    pub fn name(&mut self, wanted: &Wanted) -> Result<Naming, SymbolsError> {
        let fixed = matches!(&self.names, Names::Object(object) if object.fixed);
        let load = load::find(&self.table, wanted, fixed);
        let Some(offset) = load.offset() else {
            let names = Vec::new();
            return Ok(Naming { load, names });
        };
        let at = |address: Address| address.0.wrapping_sub(offset);
        let mut found = Vec::new();
        for &address in &wanted.functions {
            found.extend(self.table.entry(at(address)).map(|place| Found {
                address,
                in_file: at(address),
                symbol: self.table.symbol(place),
                haskell: false,
            }));
        }
        for &address in &wanted.code {
            found.extend(self.table.around(at(address)).map(|place| Found {
                address,
                in_file: at(address),
                symbol: self.table.symbol(place),
                haskell: true,
            }));
        }
        let names = match &self.names {
            Names::Nm(text) => found.iter().map(|found| text.name(found)).collect(),
            Names::Object(_) => object_file::names(&mut self.file, self.kind, &found)?,
        };
        Ok(Naming { load, names })
    }
}

fn first_bytes(file: &mut (impl Read + Seek)) -> Result<Vec<u8>, SymbolsError> {
    let mut first = Vec::new();
    let read = file
        .seek(SeekFrom::Start(0))
        .and_then(|_| file.take(MAGIC_BYTES as u64).read_to_end(&mut first));
    match read {
        Ok(_) => Ok(first),
        Err(error) => Err(SymbolsError::Read {
            at: first.len() as u64,
            why: system_words(&error),
        }),
    }
}
