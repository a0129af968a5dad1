//! `jobstats_unpack()`: packed text as the view `raw_text` shows it.

use std::borrow::Cow;
use std::fmt::Write as _;

use pgrx::prelude::*;

use crate::zstd_text::unpack;

#[pg_extern(sql = r#"
CREATE FUNCTION jobstats_unpack(packed bytea) RETURNS text
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS '@MODULE_PATHNAME@', '@FUNCTION_NAME@';
COMMENT ON FUNCTION jobstats_unpack(bytea) IS
'The text in zstd data; NUL and bytes that are not UTF-8 are shown as \xHH. Errors: 22P03 for anything but zstd, 54000 over 1 GB.';
"#)]
fn jobstats_unpack(packed: &[u8]) -> Result<String, pgrx::pg_sys::panic::ErrorReport> {
    Ok(escape(&unpack(packed)?).into_owned())
}

/// Bytes as text of PostgreSQL: NUL and what is not UTF-8 become `\xHH`, Lustre's own notation.
pub fn escape(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.contains(&0) => return Cow::Borrowed(text),
        _ => {}
    }
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        for (number, piece) in chunk.valid().split('\0').enumerate() {
            if number > 0 {
                text.push_str("\\x00");
            }
            text.push_str(piece);
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02X}");
        }
    }
    Cow::Owned(text)
}
