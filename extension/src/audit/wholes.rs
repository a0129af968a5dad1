//! Compares the stored work of whole targets with what their readings say.

use jobstats_core::audit::Finding;
use jobstats_core::instant::Micros;
use pgrx::spi::SpiClient;

use crate::audit::Window;
use crate::feed::job_stats::rows::{staged_pieces, with_pieces};
use crate::feed::wholes::{Reread, Stored};
use crate::pg::error::Error;
use crate::pg::pause::pause;
use crate::pg::spi::Statements;
use crate::pg::template::sql;
use crate::pg::time::timestamptz;

/// Reports what differs of the readings of a target in a window whose former reading is kept.
pub fn find(
    client: &SpiClient<'_>,
    target_id: i32,
    window: Window,
    max_rate: u64,
    report: &mut impl FnMut(Finding) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut before: Option<Stored> = None;
    for time in times(client, target_id, window)? {
        pause();
        let Some(this) = Stored::at(client, target_id, time)? else {
            continue;
        };
        let since = this.since;
        let former = match before.take().filter(|it| Some(it.time) == since) {
            Some(former) => Some(former),
            None => since
                .map(|it| Stored::at(client, target_id, it))
                .transpose()?
                .flatten(),
        };
        if let Some(former) = former {
            for finding in differences(client, target_id, &Reread::new(&former, &this, max_rate)?)?
            {
                report(finding)?;
            }
        }
        before = Some(this);
    }
    Ok(())
}

fn times(client: &SpiClient<'_>, target_id: i32, window: Window) -> Result<Vec<Micros>, Error> {
    let rows = client.query(
        "SELECT r.\"time\" FROM jobstats.target_readings r \
         WHERE r.target_id = $1 AND r.\"time\" > $2 AND r.\"time\" <= $3 ORDER BY 1",
        &[
            target_id.into(),
            timestamptz(window.since)?.into(),
            timestamptz(window.until)?.into(),
        ],
    )?;
    rows.map(|row| row.time("time")).collect()
}

fn differences(
    client: &SpiClient<'_>,
    target_id: i32,
    reread: &Reread,
) -> Result<Vec<Finding>, Error> {
    let statement = sql!("wholes.sql", computed = staged_pieces());
    with_pieces(target_id, reread.pieces()?, || {
        let rows = client.query(
            &statement,
            &[
                target_id.into(),
                timestamptz(reread.since)?.into(),
                timestamptz(reread.time)?.into(),
            ],
        )?;
        rows.map(|row| {
            let [stored, computed] =
                ["stored", "computed"].map(|name| row.get::<Option<String>>(name));
            Ok(Finding::new(
                reread.time,
                "whole target",
                stored?,
                computed?,
            ))
        })
        .collect()
    })
}
