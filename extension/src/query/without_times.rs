//! Says in a notice that servers report no times, which those before Lustre 2.14 do not.

use pgrx::spi::SpiClient;

use crate::pg::error::{Error, shown};
use crate::pg::memory::require_room;
use crate::pg::spi::Statements;
use crate::query::notice::{hinted, listed};
use crate::query::statement::Statement;

/// The number of targets that a notice names.
const NAMED: usize = 5;

/// The memory that the name of a target takes.
const NAME_BYTES: usize = 256;

/// Returns whether any calls in the window came without times. A window without calls says nothing about the servers.
pub fn has_calls(client: &SpiClient<'_>, statement: &Statement<'_>) -> Result<bool, Error> {
    let query = statement.lacks_times();
    client.query_value(&query.sql, &query.params)
}

/// Raises a notice if no target reports times, and the answer has other operations instead.
pub fn note_instead() {
    pgrx::notice!(
        "no target in scope reports times (Lustre before 2.14), so metadata of MDTs and bytes of OSTs replace service_time"
    );
}

/// Raises a notice if no target reports times.
pub fn note_all() {
    hinted(
        "no target in scope reports times (Lustre before 2.14), so all times in the answer are unknown",
        "Use the operations metadata (of MDTs) and bytes (of OSTs) instead.",
    );
}

/// Raises a notice if no target reports times, and the answer ranks by calls instead.
pub fn note_calls() {
    pgrx::notice!(
        "no target in scope reports times (Lustre before 2.14), so share and operation are those of calls"
    );
}

/// Raises a notice that names the targets without times, if there are any.
pub fn note_some(client: &SpiClient<'_>, statement: &Statement<'_>) -> Result<(), Error> {
    let query = statement.targets_without_times();
    let targets = client.query(&query.sql, &query.params)?;
    require_room(targets.len(), NAME_BYTES)?;
    let names = targets.map(|row| Ok(shown(row.get("target")?).into_owned()));
    let targets: Vec<String> = names.collect::<Result<_, Error>>()?;
    if !targets.is_empty() {
        pgrx::notice!("{}", some(&targets));
    }
    Ok(())
}

/// Says which targets report no times. The first are named.
fn some(targets: &[String]) -> String {
    let (report, their) = match targets.len() {
        1 => ("target reports", "its"),
        _ => ("targets report", "their"),
    };
    format!(
        "{} {report} no times (Lustre before 2.14), so {their} time is missing from the answer: {}",
        targets.len(),
        listed(targets, NAMED)
    )
}
