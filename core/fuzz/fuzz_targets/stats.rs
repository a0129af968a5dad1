//! Any bytes as the counters of a target and of a service: numbers are not negative, the stored form reads back unchanged, and
//! increments can be stored.
#![no_main]

use jobstats_core::base::instant::MINUTE;
use jobstats_core::text::additional_parameters::{Other, Parameter, Problems};
use jobstats_core::base::pause::Pause;
use jobstats_core::rules::snapshot::{print, read_carried};
use jobstats_core::{text::stats, rules::target_counters};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let lines = text.split(|byte| *byte == b'\n').count();
    let all = [text, &text[..text.len() / 2]].map(|value| {
        let names = ["mdt.fs-MDT0000.md_stats", "obdfilter.fs-OST0000.stats", "mds.MDS.mdt.stats"];
        names.map(|name| Other {
            parameter: Parameter::parse(name.as_bytes()).unwrap(),
            line: 1,
            value: value.into(),
        })
    });
    let mut problems = Problems::default();
    let [after, before] = all.each_ref().map(|others| {
        let stats = stats::read(&others[0], &mut problems, Pause::NEVER).unwrap();
        for (position, counter) in stats.counters.iter().enumerate() {
            assert!(counter.count >= 0 && counter.values.iter().flatten().all(|number| *number >= 0));
            assert!(stats.counters[..position].iter().all(|it| it.name != counter.name));
        }
        let service = stats::read(&others[2], &mut problems, Pause::NEVER).unwrap();
        let targets = target_counters::read(others, &mut problems, Pause::NEVER).unwrap();
        assert_eq!(targets.len(), 2);
        (stats::Sums::of(&service, &stats::QUEUE), targets)
    });
    assert!(problems.kept.iter().all(|problem| (1..=lines).contains(&(problem.line as usize))));
    for (before, after) in before.1.iter().zip(&after.1) {
        let records = after.body.strip_prefix("incomplete\n").unwrap_or(&after.body);
        let read = read_carried(records.as_bytes(), Pause::NEVER).unwrap();
        assert_eq!((print(&read), read.records.len()), (records.as_bytes().to_vec(), 1));
        let (known, next) = ((MINUTE, &*before.body), (2 * MINUTE, &*after.body));
        let compared = target_counters::compare(Some(known), next, 1 << 40, Pause::NEVER).unwrap();
        assert!(compared.increments.iter().flat_map(|it| &it.totals).all(|(_, growth)| *growth > 0));
        let again = target_counters::compare(Some(next), (3 * MINUTE, &compared.body), 1 << 40, Pause::NEVER).unwrap();
        assert!(again.increments.is_empty(), "nothing was done");
    }
    let (known, next) = (&before.0, &after.0);
    let grown = stats::growth((MINUTE, known), (2 * MINUTE, next));
    assert!(grown.counters.values().flatten().all(|growth| *growth >= 0));
    let again = stats::growth((2 * MINUTE, &grown.sums), (3 * MINUTE, &grown.sums));
    assert!(!again.reset && again.counters.is_empty());
});
