//! Vectors that grow only if there is room.

use std::collections::TryReserveError;

/// Returns a vector of the items.
pub(crate) fn collect<T>(
    items: impl ExactSizeIterator<Item = T>,
) -> Result<Vec<T>, TryReserveError> {
    let mut all = Vec::new();
    all.try_reserve_exact(items.len())?;
    all.extend(items);
    Ok(all)
}

/// Returns a vector of so many equal items.
pub(crate) fn filled<T: Clone>(item: T, len: usize) -> Result<Vec<T>, TryReserveError> {
    let mut items = Vec::new();
    items.try_reserve_exact(len)?;
    items.resize(len, item);
    Ok(items)
}

/// Adds an item to a vector.
pub(crate) fn push<T>(items: &mut Vec<T>, item: T) -> Result<(), TryReserveError> {
    items.try_reserve(1)?;
    items.push(item);
    Ok(())
}
