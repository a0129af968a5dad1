//! Names of jobs and targets as the commands of Slurm, Flux and Lustre print them.

use crate::base::pattern::exactly;
use crate::base::target::TargetKind;
use crate::identity::entry_id::flux;
use crate::text::field;

/// The steps of Slurm that have a name. `sacct` cuts them, as in `4711.bat+`.
const STEPS: [&str; 3] = ["batch", "extern", "interactive"];

/// The names that `scontrol` and batch scripts print in front of a job, without `_`.
const KEYS: [&str; 4] = ["jobid", "arrayjobid", "stepid", "slurmjobid"];

/// Returns the pattern that a name of a job or a target may be short for: `4711` for `4711.batch` and `JobId=4711`, `4711_7` for
/// `4711[7]`, `ƒ3oKANUf` for the form of Flux in ASCII; `*-OST0006` for `ost6`, `scratch-OST0006` for `scratch-OST0006_UUID`.
pub fn meant(key: &str, name: &str) -> Option<String> {
    let meant = match key {
        "job" => job(name)?,
        "target" => target(name)?,
        _ => return None,
    };
    (meant != name).then_some(meant)
}

fn job(name: &str) -> Option<String> {
    let (key, mut job) = name.split_once('=').unwrap_or(("jobid", name));
    let key = key.replace('_', "").to_ascii_lowercase();
    if !KEYS.contains(&key.as_str()) {
        return None;
    }
    if let Some((of, _)) = job.rsplit_once('.').filter(|it| is_step(it.1)) {
        job = of;
    }
    if let Some(number) = flux::decimal(job).filter(|_| job.starts_with('f')) {
        return Some(flux::f58(number));
    }
    if !job.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let element = job.strip_suffix(']').and_then(|it| it.split_once('['));
    Some(match element {
        // PBS has an array as 4711[].
        None | Some((_, "")) => exactly(job),
        Some((array, index)) => {
            let array = array.trim_end_matches('_');
            match field::is_number(index.as_bytes()) {
                true => format!("{array}_{index}"),
                false => array.to_owned(),
            }
        }
    })
}

/// Returns true for the number or the name of a step. A component of a job of several has `+` and its number.
fn is_step(step: &str) -> bool {
    let is_whole = |step: &str| field::is_number(step.as_bytes()) || STEPS.contains(&step);
    match step.split_once('+') {
        None => is_whole(step),
        Some((cut, "")) => STEPS.iter().any(|name| name.starts_with(cut)),
        Some((step, component)) => field::is_number(component.as_bytes()) && is_whole(step),
    }
}

/// Finds the target in its UUID, a device of `lctl dl`, or a parameter.
fn target(name: &str) -> Option<String> {
    let text = name.trim_matches(['[', ']']);
    let upper = text.to_ascii_uppercase();
    let found = TargetKind::ALL.into_iter().filter_map(|kind| {
        let mut places = upper.match_indices(kind.as_str());
        let (at, _) = places.find(|(at, _)| *at == 0 || upper[..*at].ends_with('-'))?;
        Some((at, kind.as_str()))
    });
    let (at, kind) = found.min()?;
    let rest = &text[at + kind.len()..];
    let end = rest.find(['-', '_', '.']).unwrap_or(rest.len());
    let index = index(&rest[..end])?;
    let filesystem = match text[..at].strip_suffix('-') {
        None => "*".to_owned(),
        // A parameter begins with the kind of its device.
        Some(before) => exactly(before.rsplit('.').next().unwrap_or(before)),
    };
    Some(format!("{filesystem}-{kind}{index:04x}"))
}

/// Reads the index of a target: four hexadecimal digits, one digit, or, as `lfs df` prints it, a colon and a decimal number.
fn index(text: &str) -> Option<u16> {
    match text.strip_prefix(':') {
        Some(decimal) if field::is_number(decimal.as_bytes()) => decimal.parse().ok(),
        None if text.len() == 4 || text.len() == 1 && field::is_number(text.as_bytes()) => {
            let is_hex = text.bytes().all(|it| it.is_ascii_hexdigit());
            u16::from_str_radix(text, 16).ok().filter(|_| is_hex)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(key: &str, names: &[(&str, Option<&str>)]) {
        for (name, expected) in names {
            assert_eq!(meant(key, name).as_deref(), *expected, "{name}");
        }
    }

    #[test]
    fn jobs_have_the_forms_of_schedulers() {
        let names = [
            ("1003023.batch", Some("1003023")),
            ("4711.0", Some("4711")),
            ("4711_3.extern", Some("4711_3")),
            ("4711.bat+", Some("4711")),
            ("4711_12.+", Some("4711_12")),
            ("4711+1.0", Some("4711+1")),
            ("4711.0+1", Some("4711")),
            ("1003023[7]", Some("1003023_7")),
            ("1003023_[7]", Some("1003023_7")),
            ("1003023_[1-10%2]", Some("1003023")),
            ("JobId=1003023", Some("1003023")),
            ("ArrayJobId=1003023", Some("1003023")),
            ("StepId=1003023_7.0", Some("1003023_7")),
            ("SLURM_JOB_ID=1003023", Some("1003023")),
            ("f3oKANUf", Some("ƒ3oKANUf")),
            ("1003023", None),
            ("1003023_7", None),
            ("4711+1", None),
            ("4711[]", None),
            ("4711.server", None),
            ("4711[7].server", None),
            ("4711.", None),
            ("a.0", None),
            ("f0", None),
            ("Job=4711", None),
            ("", None),
        ];
        check("job", &names);
        assert_eq!(meant("workload", "4711.0"), None);
    }

    #[test]
    fn targets_have_the_forms_of_lustre() {
        let names = [
            ("MDT0000", Some("*-MDT0000")),
            ("OST00fF", Some("*-OST00ff")),
            ("ost0006", Some("*-OST0006")),
            ("OST6", Some("*-OST0006")),
            ("[OST:16]", Some("*-OST0010")),
            ("scratch-OST6", Some("scratch-OST0006")),
            ("scratch-ost0006", Some("scratch-OST0006")),
            ("scratch-OST0006_UUID", Some("scratch-OST0006")),
            ("a-b-MDT0000-mdc-ffff8f1a2b", Some("a-b-MDT0000")),
            ("scratch-OST0006-osc-MDT0001", Some("scratch-OST0006")),
            (
                "obdfilter.scratch-OST0006.job_stats",
                Some("scratch-OST0006"),
            ),
            ("scratch-OST0000", None),
            ("OST*", None),
            ("OST10", None),
            ("OST+006", None),
            ("ghost0006", None),
            ("scratch-MGT0000", None),
            ("", None),
        ];
        check("target", &names);
    }
}
