//! Enums whose variants have names.

/// Defines an enum, the list of all its variants, the function that returns the name of a variant, and `find`, its inverse:
///
/// ```
/// jobstats_core::named! {
///     /// The kind of a thing.
///     #[derive(Clone, Copy)]
///     pub enum Kind {
///         /// A large one.
///         Large = "large",
///         /// A small one.
///         Small = "small",
///     }
///     /// Returns the name.
///     pub fn name;
/// }
///
/// assert_eq!(Kind::ALL.map(Kind::name), ["large", "small"]);
/// assert!(matches!(Kind::find("small"), Some(Kind::Small)));
/// ```
#[macro_export]
macro_rules! named {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {
            $($(#[$of_variant:meta])* $variant:ident = $text:literal,)*
        }
        $(#[$of_function:meta])*
        $function_vis:vis fn $function:ident;
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$of_variant])* $variant,)*
        }

        impl $name {
            /// All variants, in their order.
            $vis const ALL: [Self; [$($text),*].len()] = [$(Self::$variant),*];

            $(#[$of_function])*
            $function_vis const fn $function(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// Returns the variant of this name, if there is one.
            #[allow(dead_code, reason = "not every enum is read")]
            $function_vis fn find(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|it| it.$function() == name)
            }
        }
    };
}
