#!/usr/bin/env python3
"""Opens pages in headless Chromium, says what is wrong with them, and takes pictures of pages and terminals.

    pages.py check PAGE ...            a line for each fault; status 1 if there is one
    pages.py inspect PAGE ...          the same without axe
    pages.py visit NAME=VALUE ... URL ...
                                       the same of pages of a service, which run nothing that a name brings along
    pages.py picture [--width N] [--height N] [--scheme dark] [--element SELECTOR] PAGE PNG
    pages.py terminal CAPTURED PNG     a picture of what `tmux capture-pane -e -p` printed
    pages.py print PAGE PDF

JOBSTATS_TEST_CHROMIUM names a browser other than the one on the path. Status 77: there is none.
"""

import argparse
import html
import os
import pathlib
import re
import shutil
import sys
import tempfile
from contextlib import contextmanager

try:
    from playwright.sync_api import sync_playwright
except ImportError:
    print("Playwright is missing: run make setup-dev", file=sys.stderr)
    sys.exit(77)

# The widths of a phone, a tablet and a desktop, and the printable width of A4.
PHONE, TABLET, SCREEN, PAPER = 390, 820, 1440, 687
# Colours do not depend on the width, but phones get different pictures: check both kinds in both colour schemes.
VIEWS = [(PHONE, "light"), (PHONE, "dark"), (TABLET, "light"), (SCREEN, "dark"), (PAPER, "print")]
# The largest page that can be sent by mail without a thought, in bytes.
LARGEST = 1_000_000
A4 = (595.28, 841.89)
# However busy the machine is, in milliseconds.
PATIENCE = 600_000

AXE = """async () => {
    for (const details of document.querySelectorAll('details')) details.open = true;
    const { violations } = await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] });
    return violations.flatMap(({ id, nodes }) => nodes.map(node => `${id}: ${node.target} ${node.failureSummary}`));
}"""

# A script and a handler, as a name brings them along that is not escaped. Returns whether one of them ran.
INJECTED = """() => {
    const script = document.createElement('script');
    script.textContent = 'window.ran = true';
    document.body.append(script);
    document.body.insertAdjacentHTML('beforeend', '<a id=injected onclick="window.ran = true">x</a>');
    document.getElementById('injected').click();
    return window.ran === true;
}"""


def program():
    named = os.environ.get("JOBSTATS_TEST_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not named:
        print("Chromium is missing: run make setup-dev", file=sys.stderr)
        sys.exit(77)
    return named


@contextmanager
def chromium():
    with sync_playwright() as playwright:
        # Without hinting, text has the same width on every machine. Chromium does not start in its sandbox as root.
        browser = playwright.chromium.launch(
            executable_path=program(),
            args=["--font-render-hinting=none", "--disable-dev-shm-usage"],
            chromium_sandbox=os.geteuid() != 0,
            timeout=PATIENCE,
        )
        yield browser
        browser.close()


@contextmanager
def opened(browser, url, width=SCREEN, scheme="light", height=900, headers=None):
    """A page, and the list of what it asks of the network and says in the console."""
    page = browser.new_page(viewport={"width": width, "height": height}, extra_http_headers=headers or {})
    page.set_default_timeout(PATIENCE)
    # Paper is white, whatever the reader's screen is like.
    media, colours = ("print", "dark") if scheme == "print" else ("screen", scheme)
    page.emulate_media(media=media, color_scheme=colours)
    heard = []
    page.on("request", lambda it: it.url == url or heard.append(f"asks for {it.url}"))
    page.on("console", lambda it: it.type in ("error", "warning") and heard.append(f"says in the console: {it.text}"))
    page.on("pageerror", lambda it: heard.append(f"throws: {it}"))
    response = page.goto(url)
    if response and response.status >= 400:
        # The browser also logs it to the console.
        heard.clear()
    yield page, heard
    page.close()


def address(file):
    return pathlib.Path(file).resolve().as_uri()


def misprints(pdf):
    """What is wrong with a page that was printed: sheets are A4."""
    boxes = re.findall(rb"/MediaBox \[([^\]]*)\]", pdf)
    places = [[float(number) for number in box.split()] for box in boxes]
    wrong = [place for place in places if any(abs(at - of) > 1 for at, of in zip(place, (0, 0, *A4), strict=True))]
    return [f"prints on a sheet of {' '.join(f'{at:g}' for at in place)}" for place in wrong] or ["prints no sheet"] * (not boxes)


def looks(browser, file):
    """What is wrong with the look of a page."""
    size = os.path.getsize(file)
    if size >= LARGEST:
        yield f"has {size} bytes"
    script = (pathlib.Path(__file__).parent / "pages.js").read_text()
    for width, scheme in VIEWS:
        with opened(browser, address(file), width, scheme) as (page, heard):
            found = misprints(page.pdf(prefer_css_page_size=True)) if scheme == "print" else []
            found += page.evaluate(script)
            page.wait_for_timeout(100)
            yield from (f"{it} ({width} {scheme})" for it in heard + found)


def barriers(browser, file):
    """What axe finds: on a phone in the dark and on a screen in the light."""
    axe = pathlib.Path(sys.prefix).glob("lib/python*/site-packages/axe_playwright_python/axe.min.js")
    axe = next(axe).read_text()
    for width, scheme in (PHONE, "dark"), (SCREEN, "light"):
        with opened(browser, address(file), width, scheme) as (page, _):
            page.evaluate(axe)
            yield from (f"{it} ({width} {scheme})" for it in page.evaluate(AXE))


def service(browser, url, headers):
    """What is wrong with a page of a service: it runs nothing that a name brings along, and everybody can read it."""
    with opened(browser, url, headers=headers) as (page, heard), tempfile.NamedTemporaryFile("w", suffix=".html") as file:
        page.wait_for_timeout(100)
        yield from heard
        # Its own policy would keep axe out. A report is complete in itself.
        file.write(page.request.get(url, headers=headers).text())
        file.flush()
        yield from barriers(browser, file.name)
        if "/report" in url:
            yield from looks(browser, file.name)
    yield from injected(browser, url, headers)


def injected(browser, url, headers=None):
    """Whether a page runs what a name brings along. A policy refuses the script and the handler."""
    with opened(browser, url, headers=headers) as (page, heard):
        heard.clear()
        if page.evaluate(INJECTED):
            yield "runs what a name brings along"
        # The message about a blocked request arrives a moment later.
        for _ in range(PATIENCE // 1000):
            if sum("Content Security Policy" in it for it in heard) >= 2:
                return
            page.wait_for_timeout(100)
        yield f"refuses too little: {heard}"


def terminal(captured):
    """A page that shows a terminal. The height of lines lets blocks of neighbouring lines touch."""
    colours = ["#1d2026", "#ff6b66", "#57c975", "#f0c050", "#6da8f5", "#d28be0", "#4fc1d6", "#e4e6ea"]
    look = {}
    page = """<!DOCTYPE html><meta charset="utf-8"><title>terminal</title><style>body{margin:0;background:#14161a}
pre{margin:0;padding:14px 18px;display:inline-block;background:#14161a;color:#e4e6ea;font:15px/17px 'DejaVu Sans Mono',monospace}
</style><pre>"""
    switches = {1: ("bold", True), 2: ("dim", True), 4: ("line", True), 7: ("reversed", True), 24: ("line", False), 27: ("reversed", False)}
    first, *parts = captured.rstrip().split("\x1b[")
    for part in ["m" + first, *parts]:
        numbers, text = part.split("m", 1)
        numbers = iter([int(it or 0) for it in numbers.split(";")])
        for number in numbers:
            if number == 0:
                look = {}
            elif number == 22:
                look |= {"bold": False, "dim": False}
            elif number in switches:
                look |= [switches[number]]
            elif number in (38, 48):
                # The next two numbers are the kind of the palette and the colour in it, from 8 on a bright one.
                next(numbers)
                look["ink" if number == 38 else "ground"] = colours[next(numbers) % 8]
            elif number in (39, 49):
                look.pop("ink" if number == 39 else "ground", None)
            elif 30 <= number <= 37:
                look["ink"] = colours[number - 30]
            elif 40 <= number <= 47:
                look["ground"] = colours[number - 40]
        ink, ground = look.get("ink", "#e4e6ea"), look.get("ground", "none")
        if look.get("reversed"):
            ink, ground = "#14161a", ink
        style = f"color:{ink};background:{ground}"
        style += ";font-weight:700" * bool(look.get("bold")) + ";opacity:.65" * bool(look.get("dim"))
        style += ";text-decoration:underline" * bool(look.get("line"))
        page += f'<span style="{style}">{html.escape(text, quote=False)}</span>' if text else ""
    return page + "</pre>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check", "inspect", "visit", "picture", "terminal", "print"])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--width", type=int, default=1100)
    parser.add_argument("--height", type=int, default=800)
    parser.add_argument("--scheme", choices=["light", "dark"], default="light")
    parser.add_argument("--element")
    options = parser.parse_args()
    faults = []
    with chromium() as browser:
        if options.command in ("check", "inspect"):
            for file in options.files:
                found = [*looks(browser, file), *(barriers(browser, file) if options.command == "check" else [])]
                faults += [f"{file} {it}" for it in found]
        elif options.command == "visit":
            headers = dict(it.split("=", 1) for it in options.files if not it.startswith("http"))
            for url in options.files:
                if url.startswith("http"):
                    faults += [f"{url} {it}" for it in service(browser, url, headers)]
        else:
            file, written = options.files
            with tempfile.NamedTemporaryFile("w", suffix=".html") as page_of_terminal:
                if options.command == "terminal":
                    page_of_terminal.write(terminal(pathlib.Path(file).read_text()))
                    page_of_terminal.flush()
                    with opened(browser, address(page_of_terminal.name), scheme="dark") as (page, _):
                        page.locator("pre").screenshot(path=written)
                elif options.command == "print":
                    with opened(browser, address(file), PAPER, "print") as (page, _):
                        page.pdf(path=written, prefer_css_page_size=True)
                else:
                    with opened(browser, address(file), options.width, options.scheme, options.height) as (page, _):
                        part = page.locator(options.element).first if options.element else page
                        part.screenshot(path=written)
    print("\n".join(faults), end="\n" * bool(faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
