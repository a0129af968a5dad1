//! The two forms in which a density is stored: text for people and bytes for tables. Each density has exactly one text
//! and one sequence of bytes, so that equal densities are equal in either form.

use std::fmt::{self, Display, Formatter};

use allocator_api2::alloc::{Allocator, Global};

use super::{Bucket, Density, DensityError};

/// An example of the text.
pub const TEXT_EXAMPLE: &str = "v1 base=10 zeros=2 -3:1 0:12";

/// The version of the bytes.
const VERSION: u8 = 1;
/// The number of bytes of version, base and zeros.
const HEAD: usize = 10;
/// The number of bytes of a bucket and its count.
const PAIR: usize = 10;

impl<A: Allocator> Display for Density<A> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "v1 base={} zeros={}", self.base(), self.zeros)?;
        let mut buckets = self.buckets.iter();
        buckets.try_for_each(|it| write!(f, " {}:{}", it.bucket, it.count))
    }
}

impl Density<Global> {
    /// Reads a density from its text.
    pub fn from_text(text: &str) -> Result<Self, DensityError> {
        let density = Self::read(text)?;
        // Numbers can be written in several ways ("+1", "01"), but a density has only one text.
        let same = density.to_string() == text;
        same.then_some(density).ok_or(DensityError::Text)
    }

    fn read(text: &str) -> Result<Self, DensityError> {
        let mut words = text.split(' ');
        let mut word = |name: &str| words.next().and_then(|word| word.strip_prefix(name));
        word("v1").ok_or(DensityError::Text)?;
        let base = word("base=").and_then(|it| it.parse().ok());
        let zeros = word("zeros=").and_then(|it| it.parse().ok());
        let mut density = Self::new_in(base.ok_or(DensityError::Text)?, Global)?;
        density.add_zeros(zeros.ok_or(DensityError::Text)?)?;
        for word in words {
            let (bucket, count) = word.split_once(':').ok_or(DensityError::Text)?;
            density.append(bucket.parse().ok(), count.parse().ok(), DensityError::Text)?;
        }
        Ok(density)
    }

    /// Reads a density from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DensityError> {
        let (head, pairs) = bytes.split_at_checked(HEAD).ok_or(DensityError::Bytes)?;
        let [VERSION, base, zeros @ ..] = head else {
            return Err(DensityError::Bytes);
        };
        if pairs.len() % PAIR != 0 {
            return Err(DensityError::Bytes);
        }
        let mut density = Self::new_in((*base).into(), Global).map_err(|_| DensityError::Bytes)?;
        density.add_zeros(number(zeros).ok_or(DensityError::Bytes)?)?;
        for pair in pairs.chunks_exact(PAIR) {
            let (bucket, count) = pair.split_at(2);
            let bucket = bucket.try_into().ok().map(i16::from_le_bytes);
            density.append(bucket.map(i32::from), number(count), DensityError::Bytes)?;
        }
        Ok(density)
    }

    /// Adds the next bucket of a text or of bytes. Buckets must ascend and must not be empty.
    fn append(
        &mut self,
        bucket: Option<i32>,
        count: Option<u64>,
        wrong: DensityError,
    ) -> Result<(), DensityError> {
        let (Some(bucket), Some(count)) = (bucket, count) else {
            return Err(wrong);
        };
        let (first, last) = self.edges.buckets();
        let ascends = self.buckets.last().is_none_or(|it| it.bucket < bucket);
        if !ascends || count == 0 || bucket < first || bucket > last {
            return Err(wrong);
        }
        self.add(bucket, count)
    }
}

impl<A: Allocator> Density<A> {
    /// Returns the bytes, little-endian: version (1 byte), base (1) and zeros (8), then of each bucket the power (2)
    /// and the count (8). These are 22 KB at most.
    pub fn to_bytes(&self) -> std::vec::Vec<u8> {
        let mut bytes = std::vec::Vec::with_capacity(HEAD + self.buckets.len() * PAIR);
        bytes.extend([VERSION, self.base()]);
        bytes.extend(self.zeros.to_le_bytes());
        for &Bucket { bucket, count } in &self.buckets {
            // The power is within ±1100.
            bytes.extend((bucket as i16).to_le_bytes());
            bytes.extend(count.to_le_bytes());
        }
        bytes
    }
}

fn number(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_le_bytes)
}
