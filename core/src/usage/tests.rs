use super::*;
use crate::base::instant::{HOUR, Micros, Span};
use crate::base::target::TargetKind;
use crate::usage::columns::sum::Sum;
use crate::usage::dimension::Dimension;
use crate::usage::filter::Matcher;

mod laws;
mod measures;

/// A dimension.
fn dimension(name: &str) -> &'static Dimension {
    Dimension::find(name).unwrap()
}

/// A target that is grouped by its name.
fn target(id: i32, spans: &[Span]) -> Target {
    let name = format!("scratch-OST{id:04x}");
    Target {
        group: vec![Some(name.clone())],
        spans: spans.to_vec(),
        ..Target::new(id, name, TargetKind::Ost)
    }
}

/// A question, and the rows that answer it.
struct Case {
    edges: Vec<Micros>,
    targets: Vec<Target>,
    by: Vec<&'static Dimension>,
    measures: Vec<Measure>,
    conditions: Conditions,
    owners: Owners,
    entries: Vec<(i64, Entry)>,
    shown: Option<fn(&'static Dimension, &str) -> Option<String>>,
}

/// The work of an entry on a target in a span.
type Done = (i32, i64, Span, Vec<i64>);

impl Case {
    fn new(edges: &[Micros], by: &[&str], measures: &[&str]) -> Self {
        let by: Vec<_> = by.iter().map(|it| dimension(it)).collect();
        let all = (edges[0], edges[edges.len() - 1]);
        let has_targets = by.iter().any(|it| it.name == "target");
        let mut targets: Vec<Target> = (1..=3).map(|id| target(id, &[all])).collect();
        for it in targets.iter_mut().filter(|_| !has_targets) {
            it.group.clear();
        }
        Self {
            edges: edges.to_vec(),
            targets,
            owners: Owners::new(by.iter().copied(), None, Micros::MAX, Vec::new()),
            by,
            measures: measures
                .iter()
                .map(|it| Measure::find(it).unwrap())
                .collect(),
            conditions: Conditions::default(),
            entries: (1..=3).map(|id| (id, entry(id))).collect(),
            shown: None,
        }
    }

    /// Returns the lines by step and values, in order.
    fn answer(&self, rows: &[Done]) -> Vec<(usize, Values, Line)> {
        let plan = MeasurePlan::new(&self.measures, true, false);
        let mut scope = Scope::new(self.edges.clone(), self.targets.clone(), None);
        let mut cells = Cells::new(plan.sums.len(), Activity::OfCells, 1 << 30);
        let layout = Layout::new(&plan.sums, false);
        for (target, id, span, values) in rows {
            let mut values = values.clone();
            values.resize(layout.columns.len(), 0);
            let subject = Subject {
                kind: SubjectKind::Entry,
                days: 0,
                id: *id,
            };
            let row = Row {
                target: scope.position(*target, None).unwrap(),
                subject,
                span: *span,
                part: (Micros::MIN, Micros::MAX),
                active: *span,
                node: None,
                values: &values,
            };
            cells.add(&scope, &layout, &row).unwrap();
        }
        plan.note_times(&mut scope, &cells);
        let shown = self.shown.map(|it| -> Shown { Box::new(it) });
        let mut groups = Groups::new(&self.by, &self.conditions, shown, &cells, 1 << 30).unwrap();
        for (id, entry) in &self.entries {
            let key = (SubjectKind::Entry, *id);
            groups.put(&self.owners, key, entry, None).unwrap();
        }
        let mut lines = Vec::new();
        let idle = self
            .by
            .iter()
            .all(|it| it.level != crate::usage::dimension::Level::Entry);
        let take = |line: Line| {
            lines.push((line.step, groups.values(&scope, line.group), line));
            Ok::<_, UsageError>(())
        };
        groups.lines(&plan, &scope, &cells, idle, take).unwrap();
        lines.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
        lines
    }

    fn totals(&self, rows: &[Done]) -> Vec<(usize, String, Option<i128>)> {
        let lines = self.answer(rows).into_iter();
        let name = |values: Values| {
            let values = values
                .into_iter()
                .map(|it| it.unwrap_or_else(|| "-".to_owned()));
            values.collect::<Vec<_>>().join(",")
        };
        lines
            .map(|(step, values, line)| (step, name(values), line.total()))
            .collect()
    }
}

/// An entry of the user 1000 + id in the job 100 + id.
fn entry(id: i64) -> Entry {
    Entry {
        uid: Some(1000 + id),
        job: Some((100 + id).to_string()),
        values: Vec::new(),
    }
}

#[test]
fn entries_are_added_up_by_user() {
    let case = Case::new(&[0, HOUR], &["uid"], &["read_bytes"]);
    let rows = [
        (1, 1, (0, 10), vec![5]),
        (2, 1, (0, 10), vec![7]),
        (3, 2, (5, 15), vec![1]),
        (1, 1, (10, 20), vec![30]),
    ];
    let expected = [
        (0, "1001".to_owned(), Some(42)),
        (0, "1002".to_owned(), Some(1)),
    ];
    assert_eq!(case.totals(&rows), expected);
    let by_both = Case::new(&[0, HOUR], &["target", "uid"], &["read_bytes"]).totals(&rows);
    let names: Vec<&str> = by_both.iter().map(|it| it.1.as_str()).collect();
    assert_eq!(
        names,
        [
            "scratch-OST0001,1001",
            "scratch-OST0002,1001",
            "scratch-OST0003,1002"
        ]
    );
}

#[test]
fn targets_without_usage_are_in_an_answer_about_targets_alone() {
    let mut case = Case::new(&[0, 1_000_000], &["target"], &["read_bytes"]);
    case.targets[1].spans = vec![(0, 0)];
    case.targets[2].spans = vec![(0, 250_000)];
    let lines = case.answer(&[(1, 1, (0, 1_000_000), vec![6])]);
    let shown: Vec<_> = lines
        .iter()
        .map(|it| (it.2.total(), it.2.amounts[0].rate))
        .collect();
    // Unobserved amounts are unknown.
    assert_eq!(
        shown,
        [(Some(6), Some(6.0)), (None, None), (Some(0), Some(0.0))]
    );
    let coverage: Vec<f64> = lines.iter().map(|it| it.2.observed.coverage).collect();
    assert_eq!(coverage, [1.0, 0.0, 0.25]);
}

#[test]
fn a_retired_target_is_in_scope_up_to_its_last_observation() {
    let mut case = Case::new(&[0, 10, 20], &["target"], &["read_bytes"]);
    case.targets.truncate(1);
    case.targets[0].retired = Some(5);
    case.targets[0].spans = vec![(0, 5)];
    let lines = case.answer(&[]);
    let shown: Vec<_> = lines
        .iter()
        .map(|it| (it.0, it.2.observed.coverage))
        .collect();
    assert_eq!(shown, [(0, 1.0)]);
}

#[test]
fn times_are_unknown_where_calls_came_without_any() {
    let case = Case::new(&[0, 10], &["uid"], &["service_time"]);
    let plan = MeasurePlan::new(&case.measures, true, false);
    let columns = Layout::new(&plan.sums, false).columns;
    let row =
        |column: &str| -> Vec<i64> { columns.iter().map(|it| i64::from(it == column)).collect() };
    let (timed, untimed) = (row("open_usecs"), row("open"));
    let of = |rows: &[Done]| case.answer(rows).remove(0).2.amounts[0].total;
    assert_eq!(of(&[(1, 1, (0, 10), untimed.clone())]), None);
    assert_eq!(of(&[(1, 1, (0, 10), timed.clone())]), Some(1));
    // A target that reports times took no time for these calls.
    assert_eq!(
        of(&[
            (1, 1, (0, 10), untimed.clone()),
            (1, 2, (0, 10), timed.clone())
        ]),
        Some(0)
    );
    // A target without times adds nothing to the time of others.
    assert_eq!(
        of(&[(1, 1, (0, 10), untimed), (2, 1, (0, 10), timed)]),
        Some(1)
    );
}

#[test]
fn an_entry_has_the_job_and_the_user_the_name_of_the_day() {
    let by = ["user", "account"].map(dimension);
    let mut owners = Owners::new(by.into_iter(), None, Micros::MAX, vec![10, Micros::MAX]);
    let job = |days, account: &str| Job {
        days,
        account: Some(account.to_owned()),
        ..Job::default()
    };
    owners.add_job(SubjectKind::Entry, 1, job((0, 10), "first"));
    owners.add_job(SubjectKind::Entry, 1, job((10, Micros::MAX), "second"));
    let user = |until, name: &str| User {
        until,
        name: name.to_owned(),
        gid: None,
    };
    owners.add_user(1001, user(Some(10), "before"));
    owners.add_user(1001, user(None, "after"));
    let entry = entry(1);
    let on = |days| {
        let kind = SubjectKind::Entry;
        let owner = owners.owner(&entry, Subject { kind, days, id: 1 });
        by.map(|it| owner.value(it).map(String::from))
    };
    let named = |user: &str, account: &str| [Some(user.to_owned()), Some(account.to_owned())];
    assert_eq!(on(1), named("before", "first"));
    assert_eq!(on(2), named("after", "second"));
}

#[test]
fn where_the_identifier_names_no_user_the_job_does() {
    let by = ["uid", "user", "gid", "group"].map(dimension);
    let mut owners = Owners::new(by.into_iter(), None, Micros::MAX, Vec::new());
    let values = owners
        .of_job
        .iter()
        .map(|it| Some(format!("job's {}", it.name)));
    let job = Job {
        alone: true,
        uid: Some(7),
        gid: Some(70),
        values: values.collect(),
        ..Job::default()
    };
    owners.add_job(SubjectKind::Entry, 1, job.clone());
    let subject = Subject {
        kind: SubjectKind::Entry,
        days: 0,
        id: 1,
    };
    let values = |owners: &Owners, entry: &Entry| {
        let owner = owners.owner(entry, subject);
        by.map(|it| owner.value(it).unwrap_or_default().into_owned())
    };
    let nobody = Entry::default();
    assert_eq!(
        values(&owners, &nobody),
        ["7", "job's user", "70", "job's group"]
    );
    // A user who is named has no name of the job's.
    assert_eq!(values(&owners, &entry(1)), ["1001", "1001", "", ""]);
    owners.add_group(70, "staff".to_owned());
    assert_eq!(values(&owners, &nobody)[3], "staff");
}

#[test]
fn a_reader_of_own_work_sees_no_job_of_others() {
    let own = OwnUsage {
        uids: vec![1001],
        accounts: vec!["mine".to_owned()],
    };
    let by = [dimension("uid"), dimension("account")];
    let mut owners = Owners::new(by.into_iter(), Some(&own), Micros::MAX, vec![Micros::MAX]);
    for (entry, account) in [(1, "theirs"), (2, "theirs"), (3, "mine")] {
        let job = Job {
            days: (Micros::MIN, Micros::MAX),
            alone: true,
            account: Some(account.to_owned()),
            ..Job::default()
        };
        owners.add_job(SubjectKind::Entry, entry, job);
    }
    let mut case = Case::new(&[0, 10], &["uid", "account"], &["read_bytes"]);
    (case.owners, case.conditions.own) = (owners, Some(own));
    let rows = [1, 2, 3].map(|entry| (1, entry, (0, 10), vec![1]));
    // Of an own entry, the account of another's job is not shown; an own account shows work of others.
    let expected = ["1001,-", "1003,-"].map(|name| (0, name.to_owned(), Some(1)));
    let found = case.totals(&rows);
    assert_eq!(found[..1], expected[..1]);
}

#[test]
fn pseudonyms_are_compared_and_shown_in_place_of_names() {
    let mut case = Case::new(&[0, HOUR], &["uid"], &["read_bytes"]);
    let wanted = Matcher::of(dimension("uid"), &"x1002".into()).unwrap();
    case.conditions.list = vec![Condition::new(dimension("uid"), wanted, [], false)];
    case.shown = Some(|_, value| Some(format!("x{value}")));
    let rows = [1, 2, 3].map(|entry| (1, entry, (0, 10), vec![1]));
    assert_eq!(case.totals(&rows), [(0, "x1002".to_owned(), Some(1))]);
}

/// Groups so many entries by their number, with a limit for all memory.
fn group_entries(limit: usize, entries: i64) -> Result<(), UsageError> {
    let scope = Scope::new(vec![0, 10], vec![target(1, &[(0, 10)])], None);
    let layout = Layout::new(&[Sum::column("read")], false);
    let mut cells = Cells::new(1, Activity::Unknown, limit);
    for id in 0..entries {
        let row = Row {
            target: 0,
            subject: Subject {
                kind: SubjectKind::Entry,
                days: 0,
                id,
            },
            span: (0, 10),
            part: (0, 10),
            active: (0, 10),
            node: None,
            values: &[1],
        };
        cells.add(&scope, &layout, &row)?;
    }
    let (by, conditions) = ([dimension("uid")], Conditions::default());
    let owners = Owners::new(by.into_iter(), None, Micros::MAX, Vec::new());
    let limit = limit.saturating_sub(cells.bytes());
    let mut groups = Groups::new(&by, &conditions, None, &cells, limit).unwrap();
    (0..entries).try_for_each(|id| {
        let entry = Entry {
            uid: Some(id),
            ..Entry::default()
        };
        groups.put(&owners, (SubjectKind::Entry, id), &entry, None)
    })
}

#[test]
fn an_answer_takes_no_more_memory_than_it_may() {
    assert_eq!(group_entries(1 << 20, 1000), Ok(()));
    let refused = group_entries(1 << 20, 100_000);
    assert_eq!(refused, Err(UsageError::Memory(1 << 20)));
    // A tenth of the default of the setting max_answer, for two million groups.
    assert_eq!(group_entries((512 << 20) / 10, 200_000), Ok(()));
}

#[test]
fn sums_are_exact_beyond_64_bits() {
    let case = Case::new(&[0, HOUR], &["uid"], &["read_bytes"]);
    let rows: Vec<Done> = (0..5).map(|n| (1, 1, (n, n + 1), vec![i64::MAX])).collect();
    assert_eq!(case.totals(&rows)[0].2, Some(5 * i128::from(i64::MAX)));
}
