#!/usr/bin/env python3
"""Pages with a fault each: every check of scripts/pages.py finds what it is there for, and nothing where nothing is wrong."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import pages

PICTURE = """<figure><svg id="picture" role="img" viewBox="0 0 300 40"><title>Load</title><desc>It grows.</desc>
    <text x="10" y="20">12:00</text><text x="100" y="20">13:00</text></svg>
    <details><summary>Numbers</summary><table><tbody><tr><td>1</td></tr></tbody></table></details></figure>"""
WIDE = "<div style='width:395px;height:1px'></div>"
LOOKS = [
    (WIDE, "scrolls sideways as it is opened: 4"),
    ("<p style='width:1500px'>wide</p>", "of 1440, up to <p style"),
    (f"<details><summary>s</summary>{WIDE}</details>", "scrolls sideways with all details open"),
    (
        "<div class='tables two'><div class='scroll' aria-label='Users' style='overflow-x:auto'><p style='width:1500px'>wide</p></div></div>",
        "hides columns of the table Users",
    ),
    ("<p id='a'></p><p id='a'></p>", "has the id a more than once"),
    ("<a href='#nowhere'>x</a>", "a link that leads nowhere: #nowhere"),
    ("<a href='other.html'>x</a>", "a link that leads nowhere: other.html"),
    (PICTURE.replace("<text", "<rect fill='url(#lost)'/><text"), "a pattern that is not there: lost"),
    (PICTURE.replace("<title>Load</title>", ""), "a picture without a title"),
    (PICTURE.replace("It grows.", " "), "without a description: Load"),
    (PICTURE.replace("<tr><td>1</td></tr>", ""), "without its table: Load"),
    (PICTURE.replace('x="10"', 'x="-10"'), "cuts the text “12:00” in Load"),
    (PICTURE.replace('x="100"', 'x="30"'), "writes “12:00” and “13:00” over each other"),
    (PICTURE.replace('x="10"', 'fill="#888" x="10"'), "writes “12:00” with a contrast of 3.54 in Load"),
    (
        PICTURE.replace('<text x="10"', '<rect width="60" height="40" fill="#333"/><text x="10"'),
        "writes “12:00” with a contrast of 1.66 in Load",
    ),
    ("<script>console.warn('careful')</script>", "careful"),
    ("<script>nothing()</script>", "throws: nothing is not defined"),
    ("<img alt='' src='https://jobstats.invalid/x.png'>", "asks for https://jobstats.invalid/x.png"),
    ("<link rel='stylesheet' href='beside.css'>", "beside.css"),
    ("<style>@media print { @page { size: letter } }</style>", "prints on a sheet of 0 0 612 792"),
    (f"<!-- {'x' * 1_000_000} -->", "has 1000"),
]
BARRIERS = [
    ("<p style='color:#888'>soft</p>", "color-contrast: p "),
    ("<style>@media (prefers-color-scheme: dark) { p { color: #eee } }</style><p>Light on white</p>", "(390 dark)"),
    ("<img src='data:,'>", "image-alt: img "),
    ("<details><summary>s</summary><p style='color:#ccc'>soft</p></details>", "color-contrast: p "),
]


def main():
    failed = False
    with pages.chromium() as browser, tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory) / "page.html"

        def found(check, body):
            style = "" if "@page" in body else "@media print { @page { size: A4 } }"
            head = f"<head><meta charset='utf-8'><title>t</title><style>{style}</style></head>"
            file.write_text(f"<!DOCTYPE html><html lang='en'>{head}<body><main><h1>Heading</h1>{body}</main></body></html>")
            return list(check(browser, str(file)))

        for check, good, bad in (
            (pages.looks, f"<p><a href='#picture'>The picture</a></p>{PICTURE}", LOOKS),
            (pages.barriers, PICTURE, BARRIERS),
            # Where there is no policy, what a name brings along runs.
            (lambda browser, file: pages.injected(browser, pages.address(file)), None, [("", "runs what a name brings along")]),
        ):
            if good and (faults := found(check, good)):
                failed = True
                print("a good page:", *faults, sep="\n")
            for body, fault in bad:
                faults = found(check, body)
                if not any(fault in it for it in faults):
                    failed = True
                    print(f"{fault} was not found in {body[:200]}:", *faults, sep="\n")
    shown = pages.terminal("a\x1b[1;38;5;6mb<\x1b[0mc\x1b[7md\x1b[27;4me\n\n").split('<span style="')[1:]
    if shown != [
        'color:#e4e6ea;background:none">a</span>',
        'color:#4fc1d6;background:none;font-weight:700">b&lt;</span>',
        'color:#e4e6ea;background:none">c</span>',
        'color:#14161a;background:#e4e6ea">d</span>',
        'color:#e4e6ea;background:none;text-decoration:underline">e</span></pre>\n',
    ]:
        failed = True
        print("a terminal:", *shown, sep="\n")
    sys.exit(failed)


if __name__ == "__main__":
    main()
