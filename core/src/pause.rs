//! A callback from long work, so that a caller who waits for the work can cancel it.

/// A callback that long work calls at least once per megabyte of text and once per thousand records. The callback may
/// end the work by unwinding.
#[derive(Clone, Copy)]
pub struct Pause<'p>(&'p dyn Fn());

/// The number of bytes of text between two calls.
pub(crate) const BYTES: usize = 1 << 20;

/// The number of records between two calls.
const RECORDS: usize = 1_000;

impl<'p> Pause<'p> {
    /// The callback of work that nobody cancels, which does nothing.
    pub const NEVER: Pause<'static> = Pause(&|| ());

    /// Creates a pause that calls `look_up`.
    pub const fn new(look_up: &'p dyn Fn()) -> Self {
        Self(look_up)
    }

    /// Calls the callback.
    pub fn now(self) {
        (self.0)();
    }

    /// Calls the callback if the number of records is a multiple of a thousand.
    pub(crate) fn after(self, records: usize) {
        if records.is_multiple_of(RECORDS) {
            self.now();
        }
    }

    /// Returns an iterator over the items that calls the callback once per thousand items.
    pub fn among<I: IntoIterator>(self, items: I) -> impl Iterator<Item = I::Item> {
        let items = items.into_iter().enumerate();
        items.map(move |(position, item)| {
            self.after(position + 1);
            item
        })
    }
}
