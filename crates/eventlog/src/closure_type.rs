//! The runtime's names for closure types.

/// Closure type, by its number (`rts/include/rts/storage/ClosureTypes.h`). The numbers in `IPE` events, which GHC
/// 9.2 and newer write, never changed: 64 is new in GHC 9.6, 65 in GHC 9.14.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClosureType(pub u8);

/// Names by number.
const NAMES: [&str; 66] = [
    "INVALID_OBJECT",
    "CONSTR",
    "CONSTR_1_0",
    "CONSTR_0_1",
    "CONSTR_2_0",
    "CONSTR_1_1",
    "CONSTR_0_2",
    "CONSTR_NOCAF",
    "FUN",
    "FUN_1_0",
    "FUN_0_1",
    "FUN_2_0",
    "FUN_1_1",
    "FUN_0_2",
    "FUN_STATIC",
    "THUNK",
    "THUNK_1_0",
    "THUNK_0_1",
    "THUNK_2_0",
    "THUNK_1_1",
    "THUNK_0_2",
    "THUNK_STATIC",
    "THUNK_SELECTOR",
    "BCO",
    "AP",
    "PAP",
    "AP_STACK",
    "IND",
    "IND_STATIC",
    "RET_BCO",
    "RET_SMALL",
    "RET_BIG",
    "RET_FUN",
    "UPDATE_FRAME",
    "CATCH_FRAME",
    "UNDERFLOW_FRAME",
    "STOP_FRAME",
    "BLOCKING_QUEUE",
    "BLACKHOLE",
    "MVAR_CLEAN",
    "MVAR_DIRTY",
    "TVAR",
    "ARR_WORDS",
    "MUT_ARR_PTRS_CLEAN",
    "MUT_ARR_PTRS_DIRTY",
    "MUT_ARR_PTRS_FROZEN_DIRTY",
    "MUT_ARR_PTRS_FROZEN_CLEAN",
    "MUT_VAR_CLEAN",
    "MUT_VAR_DIRTY",
    "WEAK",
    "PRIM",
    "MUT_PRIM",
    "TSO",
    "STACK",
    "TREC_CHUNK",
    "ATOMICALLY_FRAME",
    "CATCH_RETRY_FRAME",
    "CATCH_STM_FRAME",
    "WHITEHOLE",
    "SMALL_MUT_ARR_PTRS_CLEAN",
    "SMALL_MUT_ARR_PTRS_DIRTY",
    "SMALL_MUT_ARR_PTRS_FROZEN_DIRTY",
    "SMALL_MUT_ARR_PTRS_FROZEN_CLEAN",
    "COMPACT_NFDATA",
    "CONTINUATION",
    "ANN_FRAME",
];

impl ClosureType {
    /// Parses the decimal number in the description of an `IPE` event; `None` if the type is unknown.
    pub fn from_digits(digits: &str) -> Option<Self> {
        let number = digits.parse().ok()?;
        (usize::from(number) < NAMES.len()).then_some(Self(number))
    }

    /// Finds a type by its name, such as `THUNK_1_0`.
    pub fn from_name(name: &str) -> Option<Self> {
        let place = NAMES.iter().position(|known| *known == name)?;
        u8::try_from(place).ok().map(Self)
    }

    /// Returns the runtime's name of the type.
    pub fn name(self) -> &'static str {
        NAMES.get(usize::from(self.0)).copied().unwrap_or("unknown")
    }

    /// Iterates over all known types.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..=u8::MAX).take(NAMES.len()).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_numbers_of_the_runtime() {
        for (number, name) in [
            (0, "INVALID_OBJECT"),
            (16, "THUNK_1_0"),
            (38, "BLACKHOLE"),
            (42, "ARR_WORDS"),
            (53, "STACK"),
            (63, "COMPACT_NFDATA"),
            (65, "ANN_FRAME"),
        ] {
            assert_eq!(ClosureType(number).name(), name);
            assert_eq!(ClosureType::from_name(name), Some(ClosureType(number)));
            assert_eq!(
                ClosureType::from_digits(&number.to_string()),
                Some(ClosureType(number))
            );
        }
        for digits in ["", "66", "256", "-1", "THUNK"] {
            assert_eq!(ClosureType::from_digits(digits), None);
        }
        assert_eq!(ClosureType::all().count(), 66);
    }
}
