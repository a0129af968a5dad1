//! The laws of space and its owners, and the texts of single values.

use clap::ValueEnum;

use super::{cluster, day, printed};
use crate::accounting::SCHEDULERS;
use crate::jobs::Site;
use crate::lustre::{Layout, TargetKind};
use crate::time::{DAY, HOUR, MINUTE, Nanos, SECOND, Span};
use crate::world::space::{OwnerKind, Space, Used};
use crate::world::{Cluster, Plan, Preset, Workload};

/// Returns the values of parameters of one line.
fn values(cluster: &Cluster, server: usize, time: Nanos, pattern: &str) -> Vec<u64> {
    let text = printed(cluster, server, time, pattern);
    let values = text
        .lines()
        .map(|line| line.split_once('=').unwrap().1.parse().unwrap());
    values.collect()
}

#[test]
fn what_is_used_is_what_owners_of_each_kind_use() {
    for seed in 1..4 {
        for preset in [Preset::Small, Preset::Medium] {
            let cluster = Cluster::new(preset, "here", seed, Layout::V2_16, 1.0);
            let workload = Workload::new(&cluster);
            for target in 0..cluster.targets.len() {
                for hours in [0, 11, 12, 30 * 24] {
                    let space = Space::at(&workload, target, day().from + hours * HOUR);
                    for kind in OwnerKind::value_variants() {
                        let owners = space.by(*kind).into_values();
                        let sum = owners.fold(Used::default(), |sum, used| Used {
                            kbytes: sum.kbytes + used.kbytes,
                            inodes: sum.inodes + used.inodes,
                        });
                        assert_eq!(sum, space.used);
                    }
                    assert!(space.used.kbytes < space.total.kbytes);
                    assert!(space.used.inodes < space.total.inodes);
                }
            }
        }
    }
}

#[test]
fn space_changes_every_hour_and_stays_in_between() {
    let cluster = cluster(Layout::V2_16, 1);
    let workload = Workload::new(&cluster);
    let used = |time| Space::at(&workload, 0, time).used;
    for hour in (0..24).map(|hour| day().from + hour * HOUR) {
        assert_eq!(used(hour), used(hour + HOUR - 1));
        assert_ne!(used(hour), used(hour + HOUR));
    }
}

#[test]
fn one_object_target_is_nearly_full_at_any_hour() {
    for seed in 1..6 {
        let cluster = Cluster::new(Preset::Medium, "here", seed, Layout::V2_16, 1.0);
        let workload = Workload::new(&cluster);
        let full = |time| {
            let targets = cluster.of_kind(TargetKind::Ost);
            let spaces = targets.map(|(target, _)| Space::at(&workload, target, time));
            let full = spaces.filter(|space| space.used.kbytes * 100 >= space.total.kbytes * 95);
            full.count()
        };
        assert!((0..24).all(|hour| full(day().from + hour * HOUR) == 1));
    }
}

#[test]
fn owners_are_those_who_have_jobs() {
    let mut cluster = cluster(Layout::V2_16, 1);
    let drawn = Workload::new(&cluster);
    let users = Space::at(&drawn, 0, day().from).by(OwnerKind::User);
    assert!(drawn.users().all(|(uid, _)| users.contains_key(&uid)));
    assert!(users.contains_key(&0));
    let site = Site::new(SCHEDULERS[0], 1, 400);
    let people = site.people.clone();
    cluster.schedulers = Some(site);
    let space = Space::at(&Workload::new(&cluster), 1, day().from);
    let ids = OwnerKind::value_variants().iter();
    let ids: Vec<Vec<u32>> = ids
        .map(|kind| space.by(*kind).into_keys().collect())
        .collect();
    for person in &people.people {
        let project = person.accounts[0].strip_prefix("project_").unwrap();
        let expected = [person.uid, person.gid, project.parse().unwrap()];
        let found = ids.iter().zip(expected).all(|(ids, id)| ids.contains(&id));
        assert!(found, "{person:?}");
    }
    assert_eq!(ids[0].len(), people.people.len() + 1);
}

#[test]
fn texts_say_what_the_space_is() {
    let cluster = cluster(Layout::V2_16, 1);
    let time = day().from + 13 * HOUR;
    let values = |name| values(&cluster, 1, time, &format!("osd-*.*.{name}"));
    let names = [
        "kbytestotal",
        "kbytesfree",
        "kbytesavail",
        "filestotal",
        "filesfree",
    ];
    let [total, free, available, files, files_free] = names.map(values);
    let owners = printed(
        &cluster,
        1,
        time,
        "osd-*.small-OST0001.quota_slave.acct_user",
    );
    let sum = |name: &str| {
        let numbers = owners.lines().filter_map(|line| line.split_once(name));
        let numbers = numbers.map(|(_, rest)| rest.trim_start().split([',', ' ']).next());
        numbers
            .map(|number| number.unwrap().parse::<u64>().unwrap())
            .sum::<u64>()
    };
    assert_eq!(sum("kbytes:"), total[1] - free[1]);
    assert_eq!(sum("inodes:"), files[1] - files_free[1]);
    assert_eq!(available[1], free[1] - total[1] / 100);
    let mut lines = owners.lines();
    assert_eq!(
        [lines.next(), lines.next(), lines.next()],
        [
            Some("osd-ldiskfs.small-OST0001.quota_slave.acct_user="),
            Some("usr_accounting:"),
            Some("- id:      0"),
        ]
    );
    let usage = lines.next().unwrap();
    assert!(usage.starts_with("  usage:   { inodes: "), "{usage}");
    assert_eq!(usage.len(), 73);
}

#[test]
fn projects_are_accounted_for_since_2_12() {
    let kinds = |layout| {
        let cluster = cluster(layout, 1);
        let text = printed(&cluster, 0, day().from, "osd-*.*.quota_slave.acct_*");
        text.matches("_accounting:").count()
    };
    assert_eq!(kinds(Layout::V2_5), 2);
    assert_eq!(kinds(Layout::V2_12), 3);
}

#[test]
fn health_has_a_form_in_each_layout() {
    let text = |layout| {
        let cluster = cluster(layout, 1);
        let plan = Plan::new(&cluster);
        let minutes = (0..24 * 60).map(|minute| day().from + minute * MINUTE);
        let sick = minutes.filter_map(|time| {
            let server = (0..2).find(|server| plan.unhealthy(*server, time).is_some())?;
            Some((server, time))
        });
        let sick: Vec<_> = sick.collect();
        assert_eq!(sick.len(), 30);
        let (server, time) = sick[0];
        let target = &cluster.targets[plan.unhealthy(server, time).unwrap()].name;
        assert_eq!(
            printed(&cluster, 1 - server, time, "health_check"),
            "health_check=healthy\n"
        );
        printed(&cluster, server, time, "health_check").replace(target, "T")
    };
    let device = "device T reported unhealthy\nNOT HEALTHY\n";
    assert_eq!(text(Layout::V2_5), format!("health_check=\n{device}"));
    assert_eq!(text(Layout::V2_12), "health_check=NOT HEALTHY\n");
    assert_eq!(text(Layout::V2_14_0), format!("health_check={device}"));
    assert_eq!(text(Layout::V2_17), format!("health_check={device}"));
}

#[test]
fn a_target_recovers_when_it_is_mounted() {
    let mut cluster = cluster(Layout::V2_16, 1);
    let plan = Plan::new(&cluster);
    let (target, mounted) = (0..3)
        .find_map(|target| {
            // The first of three starts is a clear, the next one is the failure.
            let starts = plan.starts(target, Span::new(day().from, 2 * DAY));
            let mounted = starts
                .into_iter()
                .find_map(|start| plan.mounted(target, start));
            Some((target, mounted?))
        })
        .unwrap();
    let state = |time: Nanos| {
        let server = Plan::new(&cluster).owner(target, time);
        printed(&cluster, server, time, "*.*.recovery_status")
    };
    let during = state(mounted + MINUTE + SECOND / 2);
    assert!(during.contains("status: RECOVERING\n"), "{during}");
    assert!(
        during.contains("time_remaining: 299\nconnected_clients: 2/12\n"),
        "{during}"
    );
    let after = state(mounted + 7 * MINUTE);
    assert!(after.contains("status: COMPLETE\n"), "{after}");
    cluster.disturbed = false;
    assert_eq!(
        printed(&cluster, 0, day().from, "mdt.*.recovery_status"),
        "mdt.small-MDT0000.recovery_status=status: INACTIVE\n"
    );
}

#[test]
fn the_readers_of_a_changelog_have_a_form_in_each_layout() {
    let time = day().from + 17 * SECOND + SECOND / 2;
    let lines = |layout| {
        let text = printed(&cluster(layout, 1), 0, time, "mdd.*.changelog_users");
        let lines = text.lines().map(str::to_owned);
        lines.collect::<Vec<_>>()
    };
    let [oldest, old, new] = [Layout::V2_5, Layout::V2_14_0, Layout::V2_15_0].map(lines);
    assert_eq!(old[0], "mdd.small-MDT0000.changelog_users=");
    let newest: i64 = old[1]
        .strip_prefix("current index: ")
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(new[1], format!("current_index: {newest}"));
    assert_eq!(
        [&oldest[2], &old[2]],
        ["ID    index", "ID    index (idle seconds)"]
    );
    assert_eq!(new[2], "ID                            index (idle) mask");
    let field = |line: &str, field: usize| {
        let field = line.split_whitespace().nth(field).unwrap();
        field.trim_matches(['(', ')']).parse::<i64>().unwrap()
    };
    assert_eq!(
        [field(&new[3], 2), field(&new[4], 2)],
        [17, 8 * 86_400 + 17]
    );
    assert!(field(&new[3], 1) < newest && field(&new[4], 1) < field(&new[3], 1));
    assert_eq!(old[3], format!("cl1   {} (17)", field(&new[3], 1)));
    assert_eq!(oldest[3], format!("cl1   {}", field(&new[3], 1)));
}
