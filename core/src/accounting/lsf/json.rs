pub(super) fn recognizes(_text: &[u8]) -> bool {
    false
}
pub(super) fn records(_text: &[u8]) -> std::iter::Empty<super::Record<'_>> {
    std::iter::empty()
}
