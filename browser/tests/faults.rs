//! Pages with a fault each: every check finds what it is there for, and nothing where nothing is wrong.
//!
//! Needs Chromium: `JOBSTATS_TEST_CHROMIUM` names it, or else it is on the path. `JOBSTATS_TEST_AXE` names the file of axe.
#![allow(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod browser;

use std::fs;
use std::path::PathBuf;

use jobstats_browser::{axe, inspect};
use tempfile::TempDir;

/// A picture with all that belongs to it.
const PICTURE: &str = r#"<figure><svg id="picture" role="img" viewBox="0 0 300 40"><title>Load</title><desc>It grows.</desc>
    <text x="10" y="20">12:00</text><text x="100" y="20">13:00</text></svg>
    <details><summary>Numbers</summary><table><tbody><tr><td>1</td></tr></tbody></table></details></figure>"#;

/// The statements that make a sheet A4.
const PAPER: &str = "@media print { @page { size: A4 } }";

/// Writes a page with this in its body.
fn page(directory: &TempDir, body: &str) -> PathBuf {
    let path = directory.path().join("page.html");
    let style = if body.contains("@page") { "" } else { PAPER };
    let page = format!(
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>t</title><style>{style}</style></head>\
         <body><main><h1>Heading</h1>{body}</main></body></html>"
    );
    fs::write(&path, page).unwrap();
    path
}

#[test]
fn each_fault_is_found() {
    let Some(chromium) = browser::start("faults") else {
        return;
    };
    let directory = TempDir::new().unwrap();
    let found = |body: &str| inspect::faults(&chromium, &page(&directory, body)).unwrap();
    let good = format!("<p><a href='#picture'>The picture</a></p>{PICTURE}");
    assert_eq!(found(&good), [""; 0]);
    let large = "x".repeat(1_000_000);
    let pictured = |old: &str, new: &str| PICTURE.replace(old, new);
    let wide = "<div style='width:395px;height:1px'></div>";
    for (body, fault) in [
        (wide.to_owned(), "scrolls sideways as it is opened: 4"),
        (
            "<p style='width:1500px'>wide</p>".to_owned(),
            "of 1440, up to <p style",
        ),
        (
            format!("<details><summary>s</summary>{wide}</details>"),
            "scrolls sideways with all details open",
        ),
        (
            "<div class='tables two'><div class='scroll' aria-label='Users' style='overflow-x:auto'><p style='width:1500px'>\
             wide</p></div></div>"
                .to_owned(),
            "hides columns of the table Users",
        ),
        (
            "<p id='a'></p><p id='a'></p>".to_owned(),
            "has the id a more than once",
        ),
        (
            "<a href='#nowhere'>x</a>".to_owned(),
            "a link that leads nowhere: #nowhere",
        ),
        (
            "<a href='other.html'>x</a>".to_owned(),
            "a link that leads nowhere: other.html",
        ),
        (
            pictured("<text", "<rect fill='url(#lost)'/><text"),
            "a pattern that is not there: lost",
        ),
        (
            pictured("<title>Load</title>", ""),
            "a picture without a title",
        ),
        (pictured("It grows.", " "), "without a description: Load"),
        (
            pictured("<td>1</td>", "").replace("<tr></tr>", ""),
            "without its table: Load",
        ),
        (
            pictured("x=\"10\"", "x=\"-10\""),
            "cuts the text “12:00” in Load",
        ),
        (
            pictured("x=\"100\"", "x=\"30\""),
            "writes “12:00” and “13:00” over each other",
        ),
        (
            pictured("x=\"10\"", "fill=\"#888\" x=\"10\""),
            "writes “12:00” with a contrast of 3.54 in Load",
        ),
        (
            pictured("<text x=\"10\"", "<rect width=\"60\" height=\"40\" fill=\"#333\"/><text x=\"10\""),
            "writes “12:00” with a contrast of 1.66 in Load",
        ),
        (
            "<script>console.warn('careful')</script>".to_owned(),
            "careful",
        ),
        ("<script>nothing()</script>".to_owned(), "throws: Uncaught"),
        (
            "<img alt='' src='https://jobstats.invalid/x.png'>".to_owned(),
            "asks for https://jobstats.invalid/x.png",
        ),
        (
            "<link rel='stylesheet' href='beside.css'>".to_owned(),
            "beside.css",
        ),
        (
            "<style>@media print { @page { size: letter } }</style>".to_owned(),
            "prints on a sheet of 0 0 612 792",
        ),
        (format!("<!-- {large} -->"), "has 1000"),
    ] {
        let faults = found(&body);
        let shown = &body[..body.len().min(200)];
        assert!(
            faults.iter().any(|it| it.contains(fault)),
            "{shown}\n{faults:#?}"
        );
    }
}

#[test]
fn axe_finds_what_cannot_be_read() {
    let Some((chromium, axe)) = browser::start_with_axe("axe_faults") else {
        return;
    };
    let directory = TempDir::new().unwrap();
    let found = |body: &str| axe::faults(&chromium, &axe, &page(&directory, body)).unwrap();
    assert_eq!(found(PICTURE), [""; 0]);
    for (body, fault) in [
        ("<p style='color:#888'>soft</p>", "color-contrast: p "),
        (
            "<style>@media (prefers-color-scheme: dark) { p { color: #eee } }</style><p>Light on white</p>",
            "scheme: Dark",
        ),
        ("<img src='data:,'>", "image-alt: img "),
        (
            "<details><summary>s</summary><p style='color:#ccc'>soft</p></details>",
            "color-contrast: p ",
        ),
    ] {
        let faults = found(body);
        assert!(
            faults.iter().any(|it| it.contains(fault)),
            "{body}\n{faults:#?}"
        );
    }
}
