//! A callback for long work, so that its caller can cancel it.

/// A function that long work calls at least once per megabyte of text and once per thousand records. It cancels the work by
/// unwinding.
#[derive(Clone, Copy)]
pub struct Pause<'p>(&'p dyn Fn());

/// The number of bytes of text between two calls.
pub(crate) const BYTES: usize = 1 << 20;

/// The number of records between two calls.
const RECORDS: usize = 1_000;

impl<'p> Pause<'p> {
    /// A callback that never cancels.
    pub const NEVER: Pause<'static> = Pause(&|| ());

    /// Makes a callback of a function.
    pub const fn new(check: &'p dyn Fn()) -> Self {
        Self(check)
    }

    /// Calls the function.
    pub fn now(self) {
        (self.0)();
    }

    /// Calls the function if the number of records is a multiple of a thousand.
    pub(crate) fn after(self, records: usize) {
        if records.is_multiple_of(RECORDS) {
            self.now();
        }
    }

    /// Returns an iterator over the items that calls the function once per thousand items.
    pub fn among<I: IntoIterator>(self, items: I) -> impl Iterator<Item = I::Item> {
        let items = items.into_iter().enumerate();
        items.map(move |(position, item)| {
            self.after(position + 1);
            item
        })
    }
}
