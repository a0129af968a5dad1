//! Targets, as `lctl` names them.

use crate::base::escape::escape;

crate::named! {
    /// The kind of target that reports: `mdt.*` or `obdfilter.*`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum TargetKind {
        /// A metadata target.
        Mdt = "MDT",
        /// An object storage target.
        Ost = "OST",
    }
    /// Returns the part of the names of such targets that shows the kind.
    pub fn as_str;
}

impl TargetKind {
    /// Returns the first part of the names of such targets' parameters, with its dot.
    pub(crate) const fn prefix(self) -> &'static [u8] {
        match self {
            Self::Mdt => b"mdt.",
            Self::Ost => b"obdfilter.",
        }
    }
}

/// A target as the text names it: `mdt.scratch-MDT0000.job_stats` is `scratch-MDT0000` of kind MDT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetName<'a> {
    /// The kind, which is the first part of the parameter's name.
    pub kind: TargetKind,
    /// The name, which is the second part: ASCII letters, digits, `-` and `_`.
    pub name: &'a [u8],
}

impl TargetName<'_> {
    /// Returns the name as text, as it is stored.
    pub fn shown(self) -> String {
        escape(self.name).into_owned()
    }
}

/// The largest number of bytes of a target's name. Names in Lustre have up to 16.
pub(crate) const TARGET_MAX: usize = 64;

pub(crate) fn is_target_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// Returns true if a target can have this name.
pub(crate) fn is_target_name(name: &[u8]) -> bool {
    (1..=TARGET_MAX).contains(&name.len()) && name.iter().copied().all(is_target_byte)
}

/// Splits a name: `scratch-OST001f` is file system `scratch`, an OST, index 31.
fn parts(name: &str) -> Option<(&str, TargetKind, i32)> {
    let (filesystem, device) = name.rsplit_once('-')?;
    let mut kinds = TargetKind::ALL.into_iter();
    let (kind, digits) = kinds.find_map(|it| Some((it, device.strip_prefix(it.as_str())?)))?;
    let index = i32::from_str_radix(digits, 16).ok()?;
    (digits.len() == 4).then_some((filesystem, kind, index))
}

/// Returns the file system and the index in a name.
pub fn filesystem_and_index(name: &str) -> (Option<&str>, Option<i32>) {
    parts(name)
        .map(|(filesystem, _, index)| (filesystem, index))
        .unzip()
}

/// Returns the kind of target by its name: the name of an MDT or an OST ends with the kind and its index.
pub fn kind_in_name(name: &str) -> Option<TargetKind> {
    parts(name).map(|(_, kind, _)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_file_system_and_an_index_in_four_hexadecimal_digits() {
        let split = filesystem_and_index;
        assert_eq!(split("scratch-OST001f"), (Some("scratch"), Some(31)));
        assert_eq!(split("a-b-MDT0000"), (Some("a-b"), Some(0)));
        assert_eq!(kind_in_name("scratch-OST001f"), Some(TargetKind::Ost));
        assert_eq!(kind_in_name("a-b-MDT0000"), Some(TargetKind::Mdt));
        for name in [
            "scratch",
            "scratch-OST1f",
            "scratch-MGT0000",
            "scratch-OSTxyzw",
            "",
        ] {
            assert_eq!(split(name), (None, None), "{name}");
            assert_eq!(kind_in_name(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_is_shown_as_text() {
        let name = TargetName {
            kind: TargetKind::Ost,
            name: b"scratch-OST001f",
        };
        assert_eq!(
            (name.shown().as_str(), name.kind.as_str()),
            ("scratch-OST001f", "OST")
        );
        assert_eq!(TargetKind::find("OST"), Some(TargetKind::Ost));
        assert_eq!(TargetKind::find("MGT"), None);
    }
}
