//! Enums whose variants have texts.

/// Defines an enum whose variants have texts, such as a name in links and a title.
///
/// Each variant is followed by its texts, one for each accessor at the end. `from_name` parses what the accessor
/// `name` returns.
///
/// ```
/// model::named_enum! {
///     /// Direction of an order.
///     #[derive(Default)]
///     pub enum Direction: from_name {
///         /// The smallest first.
///         #[default]
///         Up: "up", "Ascending";
///         /// The largest first.
///         Down: "down", "Descending";
///     }
///     /// Returns the name in links.
///     fn name;
///     /// Returns the label of the button.
///     fn title;
/// }
/// assert_eq!(Direction::ALL, [Direction::Up, Direction::Down]);
/// assert_eq!(Direction::from_name("down"), Some(Direction::Down));
/// assert_eq!(Direction::from_name("left"), None);
/// assert_eq!(Direction::default().title(), "Ascending");
/// ```
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$about:meta])*
        $visibility:vis enum $name:ident $(: $from_name:ident)? {
            $($(#[$doc:meta])* $variant:ident: $($text:literal),+;)+
        }
        $($(#[$accessor_doc:meta])* fn $accessor:ident;)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name {
            $($(#[$doc])* $variant,)+
        }

        const _: () = {
            struct Texts {
                $($accessor: &'static str,)+
            }

            impl Texts {
                const fn new($($accessor: &'static str),+) -> Self {
                    Self { $($accessor),+ }
                }
            }

            impl $name {
                /// All variants, in display order.
                #[allow(dead_code, reason = "not every enum is listed")]
                $visibility const ALL: [Self; [$(stringify!($variant)),+].len()] = [$(Self::$variant),+];

                const fn texts(self) -> &'static Texts {
                    match self {
                        $(Self::$variant => const { &Texts::new($($text),+) },)+
                    }
                }

                $(
                    $(#[$accessor_doc])*
                    $visibility const fn $accessor(self) -> &'static str {
                        self.texts().$accessor
                    }
                )+

                $(
                    /// Returns the variant with that name.
                    $visibility fn $from_name(name: &str) -> Option<Self> {
                        Self::ALL.into_iter().find(|one| one.name() == name)
                    }
                )?
            }
        };
    };
}
