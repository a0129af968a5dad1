//! Wide screens.

use super::*;

#[test]
fn targets_are_next_to_the_rows_on_a_wide_screen() {
    let mut app = busy(12);
    let lines = drawn(&mut app, 120, 30);
    assert_eq!(
        lines[2..6],
        [
            "  #  user      jobs   ↓in service  share    metadata         read        write  per write  target     ↓in service  share",
            "  1  1000         1  ████  20       78 %   12.4 k/s     0          104 MB/s       1.7 MB   MDT0000   █████  19.7    77 %",
            "  2  1001         1  ▉      4.1     16 %  310/s         2.4 GB/s     0            –        OST0000   █▌      6      23 %",
            "  3  2000         1  ▏      0.05    <1 %    6/s         0            0            –",
        ]
    );
    // Within a row, targets have the work of that row. The filter is for rows.
    app.key(KeyCode::Enter.into());
    app.view.filter = Filter::new("101");
    let lines = drawn(&mut app, 120, 30);
    assert!(
        lines[3].ends_with("MDT0000   █████  18      90 %"),
        "{lines:#?}"
    );
    app.view.filter = Filter::new("x");
    let lines = drawn(&mut app, 120, 30);
    assert!(lines[3].starts_with(" no rows left"), "{lines:#?}");
    assert!(lines[3].ends_with("90 %"), "{lines:#?}");
    for (by, is_shown) in [(By::Operation, true), (By::Target, false)] {
        app.view.by = by;
        let title = &drawn(&mut app, 120, 30)[2];
        assert_eq!(title.ends_with("↓in service  share"), is_shown, "{title}");
        assert!(!drawn(&mut app, 119, 30)[2].ends_with("share"));
    }
}

#[test]
fn a_large_terminal_has_every_column_and_more_rows() {
    let lines = drawn(&mut busy(12), 250, 60);
    assert!(lines[2].contains("  nodes  "), "{}", lines[2]);
    let rows = lines.iter().filter(|line| line.contains("  MDT0000  "));
    assert_eq!(rows.count(), 41, "{lines:#?}");
    assert!(lines[59].contains("without user 2 %"), "{}", lines[59]);
}
