//! Screens of a store.

use super::*;

/// The readings of a store: a file system as large as the whole screen has room for, with accounts, and another one.
fn of_store() -> App {
    let mut app = busy(12);
    app.view.is_store = true;
    let mut rounds = rounds(1);
    for round in &mut rounds {
        round.time += 120 * SECOND;
        round.pending = vec![MDT.into(), OST.into()];
        for seen in &mut round.snapshots {
            seen.target = seen.target.replace("scratch", "home").into();
            for work in seen.interval.iter_mut().flat_map(|it| &mut it.work) {
                let account = work.owner.user.map(|user| format!("project_{user}").into());
                work.owner = crate::live::owner::Owner {
                    account,
                    ..(*work.owner).clone()
                }
                .into();
            }
        }
    }
    let day = |usual: f64| {
        let load = |at: i64| crate::live::history::Load {
            time: at,
            service: (at != 5).then_some(usual + (at % 3) as f64),
            requests: 0.0,
        };
        (0..144).map(load).collect()
    };
    app.take(Update {
        rounds,
        history: Some([("scratch".into(), day(4.0)), ("home".into(), day(9.0))].into()),
        users: vec![(1000, "ada".into()), (1001, "b\u{202e}o".into())],
        ..Update::default()
    });
    app
}

#[test]
fn every_file_system_has_its_load_and_what_is_usual_of_the_day() {
    for (width, height) in [(80, 24), (200, 60)] {
        let mut app = of_store();
        let lines = drawn(&mut app, width, height);
        assert!(lines[0].starts_with(" home  "), "{lines:#?}");
        assert!(
            lines[0].contains("14.7 in service (usual 10)"),
            "{lines:#?}"
        );
        assert!(lines[1].starts_with(" scratch  "), "{lines:#?}");
        assert!(lines[1].contains("(usual 5)"), "{lines:#?}");
        assert!(lines[1].contains("1 MDT, 1 OST ok"), "{lines:#?}");
        assert!(lines[2].starts_with(" by user"), "{lines:#?}");
        assert!(lines[4].starts_with("  1  ada "), "{lines:#?}");
        assert_eq!(lines[4].contains("project_1000"), width > 80, "{lines:#?}");
        assert!(lines[3].contains("  write"), "{lines:#?}");
        assert!(lines[5].starts_with(r"  2  b\u{202e}o"), "{lines:#?}");
        assert_eq!(lines.len(), usize::from(height));
        press_all(&mut app);
    }
    let wide = drawn(&mut of_store(), 300, 60);
    assert!(wide[3].contains("  nodes  "), "{}", wide[3]);
}

#[test]
fn a_target_of_which_no_text_is_due_is_not_late() {
    let mut app = busy(1);
    let mut next = rounds(2).remove(1);
    next.snapshots.truncate(1);
    next.pending = vec![OST.into()];
    app.take(Update {
        rounds: vec![next.clone()],
        ..Update::default()
    });
    assert!(!drawn(&mut app, 100, 24)[0].contains("late"));
    next.time += SECOND;
    next.pending.clear();
    app.take(Update {
        rounds: vec![next],
        ..Update::default()
    });
    assert!(drawn(&mut app, 100, 24)[0].contains("1 late"));
}

#[test]
fn more_file_systems_than_the_head_has_room_for_are_counted() {
    let mut app = app();
    let names: Vec<_> = (0..7).map(|at| format!("fs{at}-MDT0000")).collect();
    let work = interval(10, 20, &[("1:1000:a", "open", 10)]);
    let targets: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), Some(work.clone())))
        .collect();
    app.take(Update {
        rounds: vec![round(20, &targets)],
        ..Update::default()
    });
    let lines = drawn(&mut app, 80, 24);
    assert!(lines[3].starts_with(" fs3 "), "{lines:#?}");
    assert!(lines[3].ends_with("and 3 more file systems"), "{lines:#?}");
    assert!(lines[4].starts_with(" by user"), "{lines:#?}");
}

#[test]
fn a_store_says_what_it_lacks_and_since_when_it_does_not_answer() {
    let mut app = app();
    let mut nothing = round(100, &[]);
    let reason = "no target has been observed yet; check that jobstats-shipper runs";
    nothing.failures.push(Failure {
        server: crate::live::interval::STORE.into(),
        reason: reason.to_owned(),
        since: None,
    });
    app.take(Update {
        rounds: vec![nothing.clone()],
        ..Update::default()
    });
    assert_eq!(drawn(&mut app, 80, 24)[2], format!(" store: {reason}"));
    nothing.failures[0].since = Some(90 * SECOND);
    app.take(Update {
        rounds: vec![nothing],
        ..Update::default()
    });
    let line = &drawn(&mut app, 80, 24)[2];
    assert!(
        line.starts_with(" store late since 00:01:30: no target"),
        "{line}"
    );
}
