//! Reads the lists of nodes, which have a form in each version:
//!
//! | list | version |
//! |---|---|
//! | `n1/7+n1/6` | Torque 4: a slot of a node in each part |
//! | `n1/0-3,6` | Torque 5: slots of a node |
//! | `n1/0*13+n2/1` | PBS Pro: the number of the job on the node, then its processors if there are several |
//! | `n1:15002/0*2` | PBS Pro with several daemons on a node |
//! | `(n1[0]:ncpus=2:mem=4gb+n1[1]:ncpus=2)+(n2:ncpus=2)` | `exec_vnode`, the parts of nodes |

use super::field::number;

/// Returns the names of the nodes of a list, in its order and as often as they occur.
pub(super) fn names(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    parts(list).map(|part| {
        let part = part.strip_prefix(b"(").unwrap_or(part);
        let end = part.iter().position(|byte| b"/:[)".contains(byte));
        &part[..end.unwrap_or(part.len())]
    })
}

/// Returns the number of processors of an `exec_host`; `None` if a part lacks a readable one.
pub(super) fn slots(list: &[u8]) -> Option<u32> {
    let mut sum = 0_u32;
    for part in parts(list) {
        let slash = part.iter().rposition(|byte| *byte == b'/')?;
        let slots = &part[slash + 1..];
        for range in slots.split(|byte| *byte == b',') {
            sum = sum.checked_add(slots_of(range)?)?;
        }
    }
    Some(sum)
}

/// Returns the number of slots of `7`, `0-3` or `0*13`.
fn slots_of(range: &[u8]) -> Option<u32> {
    let Some(sign) = range.iter().position(|byte| b"-*".contains(byte)) else {
        return number::<u32>(range).map(|_| 1);
    };
    let [first, second] = [&range[..sign], &range[sign + 1..]].map(number::<u32>);
    match range[sign] {
        b'*' => first.and(second),
        _ => second?.checked_sub(first?)?.checked_add(1),
    }
}

fn parts(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|byte| *byte == b'+')
}
