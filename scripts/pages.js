// Returns the faults of the page, one sentence each. Opens all details first.
(() => {
    const faults = [];
    const root = document.documentElement;
    const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
    const visible = element => element.getClientRects().length > 0;

    const ancestors = element => element.parentElement ? [element.parentElement, ...ancestors(element.parentElement)] : [];

    const scrolls = state => {
        if (root.scrollWidth <= root.clientWidth) return;
        const widest = all('body *')
            .filter(it => !ancestors(it).some(its => getComputedStyle(its).overflowX !== 'visible'))
            .reduce((one, other) => one.getBoundingClientRect().right > other.getBoundingClientRect().right ? one : other);
        faults.push(`scrolls sideways ${state}: ${root.scrollWidth} pixels in a window of ${root.clientWidth}, up to ` +
            widest.outerHTML.slice(0, 80));
    };
    scrolls('as it is opened');
    for (const details of all('details')) details.open = true;
    scrolls('with all details open');

    // Tables that stand beside others are read at a glance. On a phone wide ones scroll by themselves.
    for (const table of root.clientWidth < 800 ? [] : all('.tables.two .scroll, .tables.three .scroll')) {
        if (table.scrollWidth > table.clientWidth + 1) faults.push(`hides columns of the table ${table.ariaLabel}`);
    }

    const ids = all('[id]').map(it => it.id);
    for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) faults.push(`has the id ${id} more than once`);
    for (const link of all('a')) {
        const href = link.getAttribute('href') ?? '';
        if (!href.startsWith('#') || !ids.includes(href.slice(1))) faults.push(`has a link that leads nowhere: ${href}`);
    }
    for (const part of all('svg [fill^="url("]')) {
        const id = part.getAttribute('fill').slice('url(#'.length, -1);
        if (!ids.includes(id)) faults.push(`has a pattern that is not there: ${id}`);
    }

    for (const svg of all('svg:not([aria-hidden])')) {
        const [title, description] = svg.children;
        if (title?.tagName !== 'title' || !title.textContent.trim()) faults.push('has a picture without a title');
        if (description?.tagName !== 'desc' || !description.textContent.trim()) {
            faults.push(`has a picture without a description: ${title?.textContent}`);
        }
        if (!svg.closest('figure')?.querySelector('details table tbody tr')) {
            faults.push(`has a picture without its table: ${title?.textContent}`);
        }
    }

    // What is outside of a picture's frame is not drawn.
    for (const svg of all('figure svg').filter(visible)) {
        const frame = svg.getBoundingClientRect();
        const texts = all('text', svg).map(it => [it.textContent, it.getBoundingClientRect()]);
        for (const [text, place] of texts) {
            if (place.left < frame.left - 1 || place.right > frame.right + 1 || place.top < frame.top - 2 ||
                place.bottom > frame.bottom + 2) {
                faults.push(`cuts the text “${text}” in ${svg.querySelector('title')?.textContent}`);
            }
        }
        texts.forEach(([text, place], at) => {
            for (const [other, its] of texts.slice(at + 1)) {
                const width = Math.min(place.right, its.right) - Math.max(place.left, its.left);
                const height = Math.min(place.bottom, its.bottom) - Math.max(place.top, its.top);
                if (width > 1 && height > 0.4 * Math.min(place.height, its.height)) {
                    faults.push(`writes “${text}” and “${other}” over each other in ${svg.querySelector('title')?.textContent}`);
                }
            }
        });
    }
    // axe knows nothing of the colours in pictures. What a text stands on is the last shape before it that is filled there.
    const channels = colour => colour.match(/[\d.]+/g).slice(0, 3).map(it => it / 255);
    const luminance = colour => {
        const [red, green, blue] = channels(colour).map(it => it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4);
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const contrast = (one, other) => {
        const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (light + 0.05) / (dark + 0.05);
    };
    for (const svg of all('figure svg').filter(visible)) {
        const parts = all('text, rect, path', svg).filter(it => !it.closest('defs'));
        parts.forEach((text, at) => {
            if (text.tagName !== 'text') return;
            const box = text.getBBox();
            const middle = new DOMPoint(box.x + box.width / 2, box.y + box.height / 2);
            const below = parts.slice(0, at).findLast(it => it.tagName !== 'text' && getComputedStyle(it).fill.startsWith('rgb') &&
                it.isPointInFill(middle));
            const ground = below ? getComputedStyle(below).fill : getComputedStyle(document.body).backgroundColor;
            const ratio = contrast(getComputedStyle(text).fill, ground === 'rgba(0, 0, 0, 0)' ? 'rgb(255, 255, 255)' : ground);
            if (ratio < 4.5) {
                faults.push(`writes “${text.textContent}” with a contrast of ${ratio.toFixed(2)} in ${svg.querySelector('title')?.textContent}`);
            }
        });
    }
    return faults;
})()
