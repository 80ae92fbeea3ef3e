//! Names and descriptions of heap profile bands.
//!
//! The label of a band is what the runtime wrote: a closure type, an address, a cost centre stack. Descriptions
//! combine the label, the info tables and cost centres declared in the log, and the symbols of the executable.

use serde::{Deserialize, Serialize};

use super::closures::{self, ClosureKind, Explanation, type_words};
use super::{Breakdown, Label, label_explanations};
use crate::flamegraph::centres::CostCentres;
use eventlog::closure_type::ClosureType;
use eventlog::hash::SeededMap;
use eventlog::ids::CostCentreId;
use eventlog::info_tables::{InfoTable, InfoTables, address_of};
use model::profile::frames::{Frame, FrameKind};
use symbols::{Name, NamedAddresses, Package, SymbolKind};

/// Description of a band.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BandDescription {
    /// Shortest meaningful name: `Rect`, `main.go`, `ARR_WORDS`.
    pub name: String,
    /// Kind and type in words: `thunk of type [Shape]`; may be empty.
    pub what: String,
    /// Package, such as `containers`.
    pub package: Option<String>,
    /// Module of the allocating code if known, else of the definition.
    pub module: Option<String>,
    /// Type of the value, as printed by the compiler or the runtime.
    pub type_: Option<String>,
    /// Closure kind, for grouping.
    pub kind: Option<ClosureKind>,
    /// Source location of the allocating code: `src/Main.hs:44:19-48`.
    pub place: Option<String>,
    /// Members of a retainer set; cost centres of a stack with their locations, innermost first.
    pub members: Vec<String>,
}

impl BandDescription {
    fn with_name(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// Returns `what` and the location, or else the module, in one line; may be empty.
    pub fn subtitle(&self) -> String {
        let parts = [Some(self.what.as_str()), self.source()];
        let module = self.module.as_deref().filter(|_| self.place.is_none());
        let parts = parts.into_iter().chain([module]).flatten();
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        parts.join(" · ")
    }

    /// Returns the name with a distinguishing addition: callers, source location, or module.
    pub fn long_name(&self) -> String {
        let Self { name, what, .. } = self;
        if what.starts_with('←') {
            return format!("{name} {what}");
        }
        let file = |place: &str| {
            let bare = place.rsplit(['/', '\\']).next().unwrap_or(place);
            bare.to_owned()
        };
        let more = self.place.as_deref().map(file);
        match more.as_deref().or(self.module.as_deref()) {
            Some(more) => format!("{name} ({more})"),
            None => name.clone(),
        }
    }

    fn source(&self) -> Option<&str> {
        self.place.as_deref()
    }
}

/// Symbols of an executable for the info tables of heap profiles.
#[derive(Clone, Debug, Default)]
pub struct TableSymbols {
    names: SeededMap<u64, Name>,
    /// Package and module of tables without a symbol.
    modules: SeededMap<u64, Name>,
    /// Package of each module; `None` for a module name in several packages.
    packages: SeededMap<String, Option<String>>,
    /// Type of each constructor, by module and name, where the log describes one of its info tables.
    types: SeededMap<(String, String), String>,
}

impl TableSymbols {
    /// Combines resolved addresses with the info tables in the log.
    pub fn new(naming: &NamedAddresses, tables: &InfoTables) -> Self {
        let by_address = |all: &[(_, Name)]| {
            let all = all
                .iter()
                .map(|(address, name): &(eventlog::ids::Address, _)| (address.0, name.clone()));
            all.collect::<SeededMap<u64, Name>>()
        };
        let mut packages: SeededMap<String, Option<String>> = SeededMap::default();
        for (_, name) in naming.names.iter().chain(&naming.modules) {
            if name.module.is_empty() || name.package.is_empty() {
                continue;
            }
            let package = Package::from_unit(&name.package).name;
            let known = packages.entry(name.module.clone());
            let known = known.or_insert_with(|| Some(package.to_owned()));
            if known.as_deref() != Some(package) {
                *known = None;
            }
        }
        let mut types = SeededMap::default();
        for (address, name) in &naming.names {
            if name.kind == SymbolKind::Constructor
                && let Some(table) = tables.get(address.0)
                && !table.type_.is_empty()
            {
                let constructor = (name.module.clone(), name.label.clone());
                types.insert(constructor, table.type_.to_owned());
            }
        }
        Self {
            names: by_address(&naming.names),
            modules: by_address(&naming.modules),
            packages,
            types,
        }
    }

    fn package_of(&self, module: &str) -> Option<String> {
        self.packages.get(module).cloned().flatten()
    }
}

/// Sources of information for band names.
#[derive(Clone, Copy, Debug)]
pub struct BandNames<'a> {
    info_tables: &'a InfoTables,
    centres: &'a CostCentres,
    symbols: &'a TableSymbols,
}

impl<'a> BandNames<'a> {
    /// Combines the info tables and cost centres of the log with symbols.
    pub const fn new(
        info_tables: &'a InfoTables,
        centres: &'a CostCentres,
        symbols: &'a TableSymbols,
    ) -> Self {
        Self {
            info_tables,
            centres,
            symbols,
        }
    }

    /// Describes the band with this label.
    pub fn describe(&self, breakdown: Breakdown, label: &Label<'_>) -> BandDescription {
        let text = match label {
            Label::Rest => {
                return BandDescription {
                    what: "what there was no memory to tell apart".to_owned(),
                    ..BandDescription::with_name("smaller bands")
                };
            }
            Label::Stack(stack) => return self.describe_stack(stack),
            Label::Text(text) => text,
        };
        match breakdown {
            Breakdown::InfoTable => self.describe_info_table(text),
            Breakdown::ClosureType => self.describe_closure_type(text),
            Breakdown::ClosureDescription => self.describe_closure(text),
            Breakdown::Type => describe_type(text),
            Breakdown::Module => BandDescription {
                package: self.symbols.package_of(text),
                module: Some(text.to_string()),
                ..BandDescription::with_name(&**text)
            },
            Breakdown::Retainer => describe_retainers(text),
            Breakdown::Era => BandDescription {
                what: "allocated in this era".to_owned(),
                ..BandDescription::with_name(format!("era {text}"))
            },
            Breakdown::Unknown if address_of(text).is_some() => self.describe_info_table(text),
            Breakdown::Unknown | Breakdown::CostCentreStack | Breakdown::Biography => {
                BandDescription::with_name(&**text)
            }
        }
    }

    /// Returns what the band is, and what to do if it grows.
    pub fn explain(&self, breakdown: Breakdown, label: &Label<'_>) -> Option<Explanation> {
        match label {
            Label::Rest => None,
            Label::Stack(stack) => {
                let innermost = stack.first().map(|id| self.centres.get(*id));
                let label = match innermost {
                    None => "MAIN",
                    Some(frame) => {
                        &frame
                            .filter(|frame| frame.kind == FrameKind::BuiltIn)?
                            .label
                    }
                };
                label_explanations::explain_centre(label)
            }
            Label::Text(text) => match breakdown {
                Breakdown::Biography => label_explanations::explain_biography(text),
                Breakdown::Era => Some(label_explanations::ERA),
                Breakdown::Retainer => Some(label_explanations::explain_retainers(text)),
                Breakdown::Module => label_explanations::explain_centre(text),
                _ => {
                    let closure_type = self.type_of(breakdown, text);
                    closure_type.map(|closure_type| type_words(closure_type).explanation)
                }
            },
        }
    }

    /// Returns the closure type of a band, if its label or its info table determines it.
    pub fn type_of(&self, breakdown: Breakdown, label: &str) -> Option<ClosureType> {
        let constructor = || ClosureType::from_name("CONSTR");
        match breakdown {
            Breakdown::InfoTable | Breakdown::Unknown => {
                let address = address_of(label)?;
                let described = self.info_tables.get(address);
                let described = described.and_then(|table| table.closure_type);
                described.or_else(|| {
                    let symbol = self.symbols.names.get(&address)?;
                    match symbol.label.strip_prefix("stg_") {
                        Some(name) => closures::by_symbol(name),
                        None if symbol.kind == SymbolKind::Constructor => constructor(),
                        None => None,
                    }
                })
            }
            Breakdown::ClosureType if label.contains(':') => constructor(),
            Breakdown::ClosureType | Breakdown::ClosureDescription | Breakdown::Type => {
                closures::by_label(label)
            }
            _ => None,
        }
    }

    fn describe_info_table(&self, label: &str) -> BandDescription {
        let Some(address) = address_of(label) else {
            return BandDescription::with_name(label);
        };
        let symbol = self.symbols.names.get(&address);
        if let Some(table) = self.info_tables.get(address)
            && !table.short_name().is_empty()
        {
            return self.describe_logged_table(&table, symbol);
        }
        match (symbol, self.symbols.modules.get(&address)) {
            (Some(symbol), _) => self.describe_symbol(symbol),
            // Only the module is known.
            (None, Some(within)) => BandDescription {
                what: "function or thunk without a symbol".to_owned(),
                package: Some(Package::from_unit(&within.package).name.to_owned()),
                module: Some(within.module.clone()),
                kind: Some(ClosureKind::FunctionOrThunk),
                ..BandDescription::with_name(label)
            },
            (None, None) => BandDescription::with_name(label),
        }
    }

    /// Describes an info table that is in the log.
    fn describe_logged_table(
        &self,
        table: &InfoTable<'_>,
        symbol: Option<&Name>,
    ) -> BandDescription {
        let kind = match table.closure_type {
            Some(closure_type) => Some(type_words(closure_type).kind),
            None => table.constructor().map(|_| ClosureKind::Constructor),
        };
        let mut what = kind.map_or("", ClosureKind::singular).to_owned();
        if !table.type_.is_empty() {
            let of = if what.is_empty() { "type" } else { " of type" };
            what = format!("{what}{of} {}", table.type_);
        }
        if table.constructor().is_some() && !table.label.is_empty() {
            what = format!("{what}, made by {}", table.label);
        }
        // The symbol of a constructor shows where it is defined, not where it is allocated.
        let own = symbol.filter(|symbol| symbol.kind != SymbolKind::Constructor);
        let own = own.filter(|symbol| !symbol.package.is_empty());
        let own = own.map(|symbol| Package::from_unit(&symbol.package).name.to_owned());
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        BandDescription {
            what,
            package: own.or_else(|| self.symbols.package_of(table.module)),
            module: given(table.module),
            type_: given(table.type_),
            kind,
            place: given(&table.location.to_string()),
            ..BandDescription::with_name(table.short_name())
        }
    }

    /// Describes an info table known only by its symbol.
    fn describe_symbol(&self, symbol: &Name) -> BandDescription {
        if let Some(name) = symbol.label.strip_prefix("stg_") {
            // The table does not show which code allocates the data.
            let mut found = describe_runtime_name(name, closures::by_symbol(name));
            found.kind = found.kind.or(Some(ClosureKind::Runtime));
            return found;
        }
        let is_constructor = symbol.kind == SymbolKind::Constructor;
        let kind = if is_constructor {
            ClosureKind::Constructor
        } else {
            ClosureKind::FunctionOrThunk
        };
        let package = Package::from_unit(&symbol.package);
        let (mut what, mut module) = (kind.singular().to_owned(), &symbol.module);
        let mut of_package = (!package.name.is_empty()).then(|| package.name.to_owned());
        if !symbol.used_in.is_empty() && symbol.used_in != symbol.module {
            what = format!("{what} from {}:{}", package.name, symbol.module);
            module = &symbol.used_in;
            of_package = self.symbols.package_of(module);
        }
        let constructor = (symbol.module.clone(), symbol.label.clone());
        let type_ = self.symbols.types.get(&constructor).cloned();
        let type_ = type_.filter(|_| is_constructor);
        if let Some(type_) = &type_ {
            what = format!("{what} of type {type_}");
        }
        BandDescription {
            what,
            package: of_package,
            module: (!module.is_empty()).then(|| module.clone()),
            type_,
            kind: Some(kind),
            place: symbol.location.clone(),
            ..BandDescription::with_name(&symbol.label)
        }
    }

    /// Describes a label of `-hT`: a closure type, or `package:Module.Constructor`.
    fn describe_closure_type(&self, label: &str) -> BandDescription {
        let Some((unit, qualified)) = label.split_once(':').filter(|(unit, _)| !unit.is_empty())
        else {
            return describe_runtime_name(label, closures::by_label(label));
        };
        let (module, constructor) = split_module(qualified);
        BandDescription {
            what: ClosureKind::Constructor.singular().to_owned(),
            package: Some(Package::from_unit(unit).name.to_owned()),
            module: (!module.is_empty()).then(|| module.to_owned()),
            kind: Some(ClosureKind::Constructor),
            ..BandDescription::with_name(constructor)
        }
    }

    /// Describes a label of `-hd`: a constructor, `<package:Module.function>`, or a name of the runtime.
    fn describe_closure(&self, label: &str) -> BandDescription {
        let inner = label
            .strip_prefix('<')
            .and_then(|rest| rest.strip_suffix('>'));
        if let Some((unit, qualified)) = inner.and_then(|inner| inner.split_once(':')) {
            let (module, function) = split_module(qualified);
            return BandDescription {
                what: ClosureKind::FunctionOrThunk.singular().to_owned(),
                package: Some(Package::from_unit(unit).name.to_owned()),
                module: (!module.is_empty()).then(|| module.to_owned()),
                kind: Some(ClosureKind::FunctionOrThunk),
                ..BandDescription::with_name(function)
            };
        }
        match closures::by_label(label) {
            Some(closure_type) => describe_runtime_name(label, Some(closure_type)),
            None => BandDescription {
                what: ClosureKind::Constructor.singular().to_owned(),
                kind: Some(ClosureKind::Constructor),
                ..BandDescription::with_name(label)
            },
        }
    }

    fn describe_stack(&self, stack: &[CostCentreId]) -> BandDescription {
        let centre = |id: &CostCentreId| {
            let known = self.centres.get(*id).cloned();
            known.unwrap_or_else(|| Frame::unknown(*id))
        };
        let Some(first) = stack.first().map(centre) else {
            return BandDescription::with_name("MAIN");
        };
        let is_own = first.kind == FrameKind::CostCentre;
        let module = Some(first.module.clone()).filter(|module| is_own && !module.is_empty());
        let with_place = |frame: Frame| match &frame.location {
            Some(location) => format!("{} ({location})", frame.name()),
            None if frame.kind == FrameKind::BuiltIn => frame.label,
            None => frame.name(),
        };
        BandDescription {
            name: match first.kind {
                FrameKind::BuiltIn => first.label.clone(),
                _ => first.name(),
            },
            what: match stack.get(1).map(centre) {
                Some(parent) if stack.len() > 2 => format!("← {} ← …", parent.name()),
                Some(parent) => format!("← {}", parent.name()),
                None => String::new(),
            },
            package: module
                .as_deref()
                .and_then(|module| self.symbols.package_of(module)),
            module,
            place: first.location,
            members: stack.iter().map(|id| with_place(centre(id))).collect(),
            ..BandDescription::default()
        }
    }
}

/// Describes a label that is a name of the runtime.
fn describe_runtime_name(name: &str, closure_type: Option<ClosureType>) -> BandDescription {
    let mut found = BandDescription::with_name(name);
    if let Some(closure_type) = closure_type {
        let kind = type_words(closure_type).kind;
        kind.singular().clone_into(&mut found.what);
        if let Some((pointers, words)) = closures::payload(closure_type) {
            let kept = [(pointers, "pointer"), (words, "word of data")];
            let kept = kept.iter().filter(|(count, _)| *count > 0);
            let kept: Vec<String> = kept.map(|(count, of)| counted(*count, of)).collect();
            found.what = format!("{} that keeps {}", kind.singular(), kept.join(" and "));
        }
        found.kind = Some(kind);
    }
    found
}

fn counted(count: u8, what: &str) -> String {
    match (count, what.split_once(' ')) {
        (1, _) => format!("one {what}"),
        (_, None) => format!("{count} {what}s"),
        (_, Some((word, rest))) => format!("{count} {word}s {rest}"),
    }
}

/// Describes a label of `-hy`.
///
/// It is a type constructor, `*` for a variable, a name of the runtime, or a function as `->`, a `>` for each
/// further argument, and the result.
fn describe_type(label: &str) -> BandDescription {
    if let Some(closure_type) = closures::by_label(label) {
        return describe_runtime_name(label, Some(closure_type));
    }
    let what = match label.strip_prefix("->") {
        Some(rest) => {
            let result = rest.trim_start_matches('>');
            match 1 + rest.len() - result.len() {
                1 => format!("function of one argument that gives {result}"),
                arguments => format!("function of {arguments} arguments that gives {result}"),
            }
        }
        None if label == "*" => "of any type".to_owned(),
        None => String::new(),
    };
    BandDescription {
        what,
        type_: Some(label.to_owned()),
        ..BandDescription::with_name(label)
    }
}

/// Describes a label of `-hr`: set number and members, as `(48)SYSTEM,MAIN`.
///
/// The name omits the number, because the runtime renumbers sets in each census; sets with the same members are
/// grouped by name.
fn describe_retainers(label: &str) -> BandDescription {
    let numbered = label
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'));
    let Some((number, members)) = numbered else {
        return BandDescription::with_name(label);
    };
    let members: Vec<String> = members.split(',').map(str::to_owned).collect();
    BandDescription {
        what: match members.len() {
            1 => format!("retainer set {number}"),
            many => format!("retainer set {number} of {many} members"),
        },
        name: members.join(", "),
        members,
        ..BandDescription::default()
    }
}

/// Splits a qualified name into module and name.
///
/// The module is the prefix of capitalized words, but the name is never empty (`GHC.Types.:`).
fn split_module(qualified: &str) -> (&str, &str) {
    let mut module = 0;
    for (dot, _) in qualified.match_indices('.') {
        let word = &qualified[if module == 0 { 0 } else { module + 1 }..dot];
        let is_word = word.starts_with(char::is_uppercase)
            && word
                .chars()
                .all(|c| c.is_alphanumeric() || "_'".contains(c));
        if !is_word || dot + 1 == qualified.len() {
            break;
        }
        module = dot;
    }
    let (before, rest) = qualified.split_at(module);
    (
        before,
        rest.strip_prefix('.')
            .filter(|_| module > 0)
            .unwrap_or(rest),
    )
}

#[cfg(test)]
mod tests;
