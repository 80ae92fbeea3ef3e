#![doc = include_str!("../README.md")]

mod haskell;
mod load;
mod name;
mod nm;
mod object_file;
mod table;
mod zcode;

use std::io::{Read, Seek, SeekFrom};

pub use haskell::SymbolKind;
pub use load::Load;
pub use name::{Name, Package};
use nm::NmText;
use object_file::ObjectFile;
use table::Table;

use eventlog::hash::SeededMap;
use eventlog::ids::Address;
use eventlog::system_words;

/// Number of leading bytes that identify a file type.
pub const MAGIC_BYTES: usize = 4096;

/// Type of a file with symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An executable of Linux and related systems.
    Elf,
    /// An executable of macOS.
    MachO,
    /// Several macOS executables for different machines in one file.
    Universal,
    /// An executable of Windows.
    Pe,
    /// The output of `nm`.
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

/// Detects the type of a file by its first bytes; `None` if it has no readable symbols. An eventlog yields `None`.
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

/// Whether a file that begins with these bytes is an executable or the output of `nm`, rather than an eventlog.
/// [`MAGIC_BYTES`] suffice.
pub fn is_symbols(first_bytes: &[u8]) -> bool {
    kind(first_bytes).is_some()
}

/// Reason why a file has no usable symbols.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SymbolsError {
    /// The file type is unknown.
    #[error(
        "The file is no executable (ELF, Mach-O or PE) and no output of nm. Take the program that wrote the log, or the output of “nm PROGRAM”."
    )]
    Unknown,
    /// The file contains executables for several machines.
    #[error(
        "The file holds programs for several machines. Take one of them out with “lipo -thin”, or take the output of “nm PROGRAM”."
    )]
    Universal,
    /// The file is not linked.
    #[error(
        "The {0} is not linked yet, so its addresses are not those of a program. Take the program that wrote the log."
    )]
    NotLinked(Kind),
    /// The file has no symbols.
    #[error(
        "The {0} has no symbols: it is stripped. Take the program as the linker made it, or its file of debug information."
    )]
    Stripped(Kind),
    /// The file is damaged, or has an unknown format.
    #[error(
        "The {kind} cannot be read: {why} (near byte {at}). Take an undamaged copy, or the output of “nm PROGRAM”."
    )]
    Broken {
        /// The detected file type.
        kind: Kind,
        /// Offset of the last read.
        at: u64,
        /// Description of the defect.
        why: String,
    },
    /// The file cannot be read.
    #[error("Byte {at} of the file cannot be read: {why}. Choose the file again.")]
    Read {
        /// Offset at which reading failed.
        at: u64,
        /// The system's error message.
        why: String,
    },
}

/// Addresses in a log that need names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameRequest {
    /// Start addresses of functions.
    pub functions: Vec<Address>,
    /// Start addresses of info tables, as in heap profiles by info table, stack samples and `IPE` events. Their
    /// symbols are at the end of the table.
    pub info_tables: Vec<Address>,
    /// Info tables that the log describes, with their names. They help to find the load address, and to detect
    /// whether the file is the program that wrote the log.
    pub known: Vec<(Address, String)>,
}

/// Names found for addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAddresses {
    /// Where the program was loaded.
    pub load: Load,
    /// The named addresses: functions, then info tables, in the order in which they were requested.
    pub names: Vec<(Address, Name)>,
    /// Info tables without a symbol of their own, like those of local closures, between two symbols of the same
    /// module: only package and module are known.
    pub modules: Vec<(Address, Name)>,
}

/// Expected kind of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LookupKind {
    /// A C function.
    Function,
    /// An info table; other symbols are ignored.
    InfoTable,
    /// Any Haskell symbol.
    Haskell,
}

/// An address and its symbol.
#[derive(Clone, Copy, Debug)]
struct SymbolMatch {
    address: Address,
    /// The address in the file.
    in_file: u64,
    /// Index of the symbol in the file.
    symbol: u32,
    lookup: LookupKind,
}

/// Maximum number of names in the log that are compared with those in the file.
const COMPARED: usize = 64;

/// Source of the names for a table.
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
    /// Reads the symbol table of an executable, or the output of `nm`.
    ///
    /// # Errors
    /// If the file is neither, is damaged, or has no symbols.
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

    /// Returns the type of the file.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the number of symbols.
    pub const fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there are no symbols; [`read`](Self::read) rejects such files.
    pub const fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Finds names for addresses. If the file does not match the log, the result is empty.
    ///
    /// # Errors
    /// If the file can no longer be read.
    pub fn name(&mut self, wanted: &NameRequest) -> Result<NamedAddresses, SymbolsError> {
        let fixed = matches!(&self.names, Names::Object(object) if object.fixed);
        let place = load::find_load_address(&self.table, wanted, fixed);
        let mut naming = NamedAddresses {
            load: place.load,
            names: Vec::new(),
            modules: Vec::new(),
        };
        let Some(offset) = place.load.offset() else {
            return Ok(naming);
        };
        let function = |address: Address| address.0.wrapping_sub(offset);
        // If the distance to the symbols is unknown, all info tables are skipped.
        let header = place.header.unwrap_or_default();
        let table = |address: Address| function(address).wrapping_add(header);
        let (info_tables, known) = match place.header {
            Some(_) => (wanted.info_tables.as_slice(), wanted.known.as_slice()),
            None => (&[][..], &[][..]),
        };
        if self.is_other_build(known, table)? {
            naming.load = Load::OtherBuild;
            return Ok(naming);
        }
        let functions = wanted.functions.iter();
        let functions =
            functions.map(|&address| (address, function(address), LookupKind::Function));
        let tables = info_tables.iter();
        let tables = tables.map(|&address| (address, table(address), LookupKind::InfoTable));
        let found: Vec<SymbolMatch> = functions
            .chain(tables)
            .filter_map(|(address, in_file, lookup)| self.find(address, in_file, lookup))
            .collect();
        naming.names = self.names_of(&found)?;
        let unnamed = info_tables.iter().copied();
        let unnamed = unnamed.filter(|address| self.table.entry(table(*address)).is_none());
        let unnamed: Vec<(Address, u64)> = unnamed.map(|it| (it, table(it))).collect();
        naming.modules = self.modules_of(&unnamed)?;
        Ok(naming)
    }

    /// Finds the symbol that begins at an address of the file.
    fn find(&self, address: Address, in_file: u64, lookup: LookupKind) -> Option<SymbolMatch> {
        let place = self.table.entry(in_file)?;
        Some(SymbolMatch {
            address,
            in_file,
            symbol: self.table.symbol(place),
            lookup,
        })
    }

    fn names_of(&mut self, found: &[SymbolMatch]) -> Result<Vec<(Address, Name)>, SymbolsError> {
        match &self.names {
            Names::Nm(text) => Ok(found.iter().filter_map(|found| text.name(found)).collect()),
            Names::Object(_) => object_file::names(&mut self.file, self.kind, found),
        }
    }

    /// Whether the file and the log disagree on the names of most info tables that both name.
    fn is_other_build(
        &mut self,
        known: &[(Address, String)],
        table: impl Fn(Address) -> u64,
    ) -> Result<bool, SymbolsError> {
        let at = |(address, _): &(Address, String)| {
            self.find(*address, table(*address), LookupKind::Haskell)
        };
        let found: Vec<SymbolMatch> = known.iter().filter_map(at).take(COMPARED).collect();
        let said: SeededMap<Address, &str> =
            known.iter().map(|(at, name)| (*at, &**name)).collect();
        let names = self.names_of(&found)?;
        let same = |(address, name): &&(Address, Name)| {
            let said = said.get(address);
            said.is_some_and(|said| said.starts_with(&name.label))
        };
        Ok(names.iter().filter(same).count() * 2 < names.len())
    }

    /// Finds the modules of info tables without a symbol.
    fn modules_of(
        &mut self,
        unnamed: &[(Address, u64)],
    ) -> Result<Vec<(Address, Name)>, SymbolsError> {
        let sides = |&(address, in_file): &(Address, u64)| {
            let (before, behind) = self.table.neighbors(in_file)?;
            let found = |place| SymbolMatch {
                address,
                in_file,
                symbol: self.table.symbol(place),
                lookup: LookupKind::Haskell,
            };
            Some([found(before), found(behind)])
        };
        let found: Vec<SymbolMatch> = unnamed.iter().filter_map(sides).flatten().collect();
        let names = self.names_of(&found)?;
        let module = |pair: &[(Address, Name)]| match pair {
            [(at, before), (same, behind)] if at == same && !before.module.is_empty() => {
                let one = (&before.package, &before.module) == (&behind.package, &behind.module);
                let name = Name {
                    package: before.package.clone(),
                    module: before.module.clone(),
                    ..Name::default()
                };
                one.then_some((*at, name))
            }
            _ => None,
        };
        Ok(names.windows(2).filter_map(module).collect())
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
