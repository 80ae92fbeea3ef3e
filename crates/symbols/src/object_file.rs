//! Executables: ELF, Mach-O and PE, read with the crate `object`; file and line by `addr2line`, if there is debug
//! information.

use std::borrow::Cow;
use std::io::{Read, Seek, SeekFrom};

use addr2line::gimli::{Dwarf, EndianSlice, RunTimeEndian, SectionId};
use object::read::{File, ReadCache, ReadRef, SymbolIndex};
use object::{Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind};

use super::table::{Entry, Table};
use super::{Kind, Name, SymbolMatch, SymbolsError};
use eventlog::ids::Address;
use eventlog::system_words;

/// Maximum size of debug information, which must fit into memory.
const MAX_DEBUG_BYTES: u64 = 256 << 20;

/// Properties of an executable besides its symbol table.
#[derive(Debug)]
pub(super) struct ObjectFile {
    /// Whether it can only be loaded at its own address.
    pub(super) fixed: bool,
}

/// Reader that records its last position and error, which the crate does not report.
struct ErrorRecorder<R> {
    inner: R,
    at: u64,
    error: Option<std::io::Error>,
}

impl<R> ErrorRecorder<R> {
    fn record_error<T>(&mut self, result: std::io::Result<T>) -> std::io::Result<T> {
        result.map_err(|error| {
            let kind = error.kind();
            if kind != std::io::ErrorKind::UnexpectedEof {
                self.error = Some(error);
            }
            kind.into()
        })
    }
}

impl<R: Read> Read for ErrorRecorder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.inner.read(buffer);
        self.record_error(read)
    }
}

impl<R: Seek> Seek for ErrorRecorder<R> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        let at = self.inner.seek(to);
        let at = self.record_error(at)?;
        if !matches!(to, SeekFrom::End(_)) {
            self.at = at;
        }
        Ok(at)
    }
}

/// Parses the file, calls `look`, and adds the position to its error.
fn with_file<R: Read + Seek, T>(
    file: &mut R,
    kind: Kind,
    look: impl FnOnce(&File<'_, &ReadCache<ErrorRecorder<&mut R>>>) -> Result<T, SymbolsError>,
) -> Result<T, SymbolsError> {
    let cache = ReadCache::new(ErrorRecorder {
        inner: file,
        at: 0,
        error: None,
    });
    let looked = match File::parse(&cache) {
        Ok(object) => look(&object),
        Err(error) => Err(SymbolsError::Broken {
            kind,
            at: 0,
            why: error.to_string(),
        }),
    };
    let watched = cache.into_inner();
    match (looked, watched.error) {
        (_, Some(error)) => Err(SymbolsError::Read {
            at: watched.at,
            why: system_words(&error),
        }),
        (Err(SymbolsError::Broken { kind, why, .. }), None) => Err(SymbolsError::Broken {
            kind,
            at: watched.at,
            why,
        }),
        (looked, None) => looked,
    }
}

/// Reads the symbol table, without names.
pub(super) fn read(
    file: &mut (impl Read + Seek),
    kind: Kind,
) -> Result<(Table, ObjectFile), SymbolsError> {
    with_file(file, kind, |object| {
        if object.kind() == ObjectKind::Relocatable {
            return Err(SymbolsError::NotLinked(kind));
        }
        let code = code_sections(object);
        let mut entries: Vec<Entry> = object
            .symbols()
            .filter_map(|symbol| entry(&symbol, &code))
            .collect();
        // Fall back to the table for the dynamic linker.
        let dynamic = entries.is_empty();
        if dynamic {
            entries.extend(
                object
                    .dynamic_symbols()
                    .filter_map(|symbol| entry(&symbol, &code))
                    .map(|entry| Entry {
                        symbol: entry.symbol | DYNAMIC,
                        ..entry
                    }),
            );
        }
        let fixed = kind == Kind::Elf && object.kind() == ObjectKind::Executable;
        Ok((Table::new(entries), ObjectFile { fixed }))
    })
}

/// Flag in the index of a symbol of the dynamic table.
const DYNAMIC: u32 = 1 << 31;

/// Returns whether each section contains code, by index.
fn code_sections<'data, R: ReadRef<'data>>(object: &File<'data, R>) -> Vec<bool> {
    let mut code = Vec::new();
    for section in object.sections() {
        // Files of debug information have sections without content, whose purpose is only visible in the flags.
        let is_code = match section.flags() {
            SectionFlags::Elf { sh_flags, .. } => sh_flags.contains(object::elf::SHF_EXECINSTR),
            SectionFlags::MachO { flags, .. } => {
                flags.contains(object::macho::S_ATTR_PURE_INSTRUCTIONS)
            }
            SectionFlags::Coff { characteristics } => {
                characteristics.contains(object::pe::IMAGE_SCN_MEM_EXECUTE)
            }
            _ => false,
        };
        let index = section.index().0;
        // No valid file has so many.
        if is_code && index < 1 << 20 {
            code.resize(code.len().max(index + 1), false);
            code[index] = true;
        }
    }
    code
}

/// Returns the entry of a symbol; `None` if it is not in code. GHC's info tables are in code, but marked as data.
fn entry<'data>(symbol: &impl ObjectSymbol<'data>, code: &[bool]) -> Option<Entry> {
    let in_code = symbol
        .section_index()
        .is_some_and(|index| code.get(index.0).copied().unwrap_or(false));
    if !in_code {
        return None;
    }
    let rank = match symbol.kind() {
        SymbolKind::Text if symbol.is_global() => 0,
        SymbolKind::Text => 1,
        SymbolKind::Data if symbol.is_global() => 2,
        SymbolKind::Data => 3,
        SymbolKind::Unknown | SymbolKind::Label => 4,
        _ => return None,
    };
    let number = u32::try_from(symbol.index().0).ok()?;
    (number < DYNAMIC).then_some(Entry {
        address: symbol.address(),
        rank,
        symbol: number,
    })
}

/// Reads the names of symbols, and finds their source lines.
pub(super) fn names(
    file: &mut (impl Read + Seek),
    kind: Kind,
    found: &[SymbolMatch],
) -> Result<Vec<(Address, Name)>, SymbolsError> {
    with_file(file, kind, |object| {
        let lines = Lines::new(object);
        let mut names = Vec::with_capacity(found.len());
        for found in found {
            let symbol = symbol_name(object, found.symbol).map_err(|error| {
                let why = error.to_string();
                SymbolsError::Broken { kind, at: 0, why }
            })?;
            // Labels set by assemblers are not names.
            if symbol.is_empty() || symbol.starts_with(['$', '.']) {
                continue;
            }
            let Some(name) = Name::from_symbol(&symbol, kind == Kind::MachO, found.lookup) else {
                continue;
            };
            let location = lines
                .as_ref()
                .and_then(|lines| lines.source_location(found.in_file));
            names.push((found.address, Name { location, ..name }));
        }
        Ok(names)
    })
}

fn symbol_name<'data, R: ReadRef<'data>>(
    object: &File<'data, R>,
    number: u32,
) -> object::Result<Cow<'data, str>> {
    let index = SymbolIndex((number & !DYNAMIC) as usize);
    let bytes = if number & DYNAMIC == 0 {
        object.symbol_by_index(index)?.name_bytes()?
    } else {
        let table = object.dynamic_symbol_table();
        let symbol = table.map(|table| object::ObjectSymbolTable::symbol_by_index(&table, index));
        match symbol {
            Some(symbol) => symbol?.name_bytes()?,
            None => &[],
        }
    };
    Ok(String::from_utf8_lossy(bytes))
}

/// The sections that source lines are derived from.
const DEBUG_SECTIONS: [SectionId; 10] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugAranges,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

/// Mapping from addresses to source lines.
struct Lines<'data> {
    context: addr2line::Context<EndianSlice<'data, RunTimeEndian>>,
}

impl<'data> Lines<'data> {
    /// Returns `None` if debug information is missing, unreadable or too large; names then have no location.
    fn new<R: ReadRef<'data>>(object: &File<'data, R>) -> Option<Self> {
        let sections = DEBUG_SECTIONS.map(|id| object.section_by_name(id.name()));
        let sizes = sections.iter().flatten().map(ObjectSection::size);
        let bytes = sizes.fold(0, u64::saturating_add);
        if bytes == 0 || bytes > MAX_DEBUG_BYTES {
            return None;
        }
        let endian = if object.is_little_endian() {
            RunTimeEndian::Little
        } else {
            RunTimeEndian::Big
        };
        let load = |id: SectionId| -> object::Result<EndianSlice<'data, RunTimeEndian>> {
            let place = DEBUG_SECTIONS.iter().position(|other| *other == id);
            let section = place.and_then(|place| sections[place].as_ref());
            // Compressed sections are not inflated: such files have no lines.
            let data = section.map_or(Ok(&[][..]), |section| section.data())?;
            Ok(EndianSlice::new(data, endian))
        };
        let dwarf = Dwarf::load(load).ok()?;
        let context = addr2line::Context::from_dwarf(dwarf).ok()?;
        Some(Self { context })
    }

    /// Returns the file name, without folders, and the line.
    fn source_location(&self, address: u64) -> Option<String> {
        let location = self.context.find_location(address).ok()??;
        let file = location.file?;
        let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
        Some(match location.line {
            Some(line) => format!("{file}:{line}"),
            None => file.to_owned(),
        })
    }
}
