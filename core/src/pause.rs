//! Looking up from long work, so that whoever waits for it can end it.

/// What long work calls at least once per megabyte of text and once per thousand records. It ends the work by unwinding.
#[derive(Clone, Copy)]
pub struct Pause<'p>(&'p dyn Fn());

/// Bytes of text between two looks.
pub(crate) const BYTES: usize = 1 << 20;

/// Records between two looks.
const RECORDS: usize = 1_000;

impl<'p> Pause<'p> {
    /// Work that nobody ends.
    pub const NEVER: Pause<'static> = Pause(&|| ());

    /// Calls this.
    pub const fn new(look_up: &'p dyn Fn()) -> Self {
        Self(look_up)
    }

    /// Looks up.
    pub fn now(self) {
        (self.0)();
    }

    /// Looks up if so many records make a thousand.
    pub(crate) fn after(self, records: usize) {
        if records.is_multiple_of(RECORDS) {
            self.now();
        }
    }

    /// The same items; going through them looks up once per thousand.
    pub fn among<I: IntoIterator>(self, items: I) -> impl Iterator<Item = I::Item> {
        let items = items.into_iter().enumerate();
        items.map(move |(position, item)| {
            self.after(position + 1);
            item
        })
    }
}
