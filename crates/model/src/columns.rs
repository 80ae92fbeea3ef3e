//! Typed references to number columns, which are transferred and stored without conversion.

/// A mutable column, by its number type.
#[derive(Debug)]
#[expect(missing_docs, reason = "the types say it")]
pub enum Column<'a> {
    U8(&'a mut Vec<u8>),
    U16(&'a mut Vec<u16>),
    U32(&'a mut Vec<u32>),
    U64(&'a mut Vec<u64>),
    F32(&'a mut Vec<f32>),
    F64(&'a mut Vec<f64>),
}

macro_rules! column_of {
    ($($kind:ident $number:ident),*) => {$(
        impl<'a> From<&'a mut Vec<$number>> for Column<'a> {
            fn from(column: &'a mut Vec<$number>) -> Self {
                Self::$kind(column)
            }
        }
    )*};
}

column_of!(U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64);
