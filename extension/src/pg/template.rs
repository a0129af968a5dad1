//! SQL templates: files with placeholders `@name@`, next to the Rust that fills them.
//!
//! A template compiles only if the code fills exactly its placeholders.

/// Fills a template with texts. The path is relative to the file of the caller.
///
/// ```ignore
/// let statement = sql!("read/entries.sql", columns = columns);
/// ```
macro_rules! sql {
    ($path:literal $(, $hole:ident = $text:expr)* $(,)?) => {{
        const TEMPLATE: ::jobstats_core::output::template::Template =
            ::jobstats_core::output::template::Template::new(include_str!($path), &[$(stringify!($hole)),*]);
        TEMPLATE.fill(&[$(::core::convert::AsRef::<str>::as_ref(&$text)),*])
    }};
}

pub(crate) use sql;
