import { unseenIn } from '@earshot/mcp/injections';
import type { Page } from 'playwright-core';

/** What a page shows around untrusted content, and what is wrong with it. */
export interface PageInspection {
  /** The id of the open match. */
  readonly peek: string | null;
  /** The markup and the positions of its parts, without untrusted content, times, the histogram and the live status. */
  readonly frame: string;
  /** The same for each visible row of the list. */
  readonly rows: readonly string[];
  readonly wrong: readonly string[];
}

/** Untrusted content is in `bdi` elements, which may contain only marks. */
const wrongWithTexts = `
  for (const element of document.querySelectorAll('bdi :not(mark)')) wrong.push('in a text: ' + element.localName);
  for (const element of document.querySelectorAll('iframe, object, embed, base, img, body script, body style'))
    wrong.push('in the page: ' + element.localName);`;

const wrongWithLinks = `
  for (const link of document.querySelectorAll('a[href]')) {
    if (link.origin === location.origin) continue;
    if (!/^https?:$/.test(link.protocol)) wrong.push('a link of ' + link.protocol);
    if (!link.textContent.startsWith(link.host)) wrong.push(link.host + ' is called ' + link.textContent);
    if (link.rel !== 'noreferrer noopener') wrong.push('a link with rel ' + link.rel);
  }`;

const wrongWithPlaces = `
  for (const element of [document.documentElement, ...document.querySelectorAll('main, aside')])
    if (element.scrollWidth > element.clientWidth) wrong.push(element.localName + ' is wider than it has room');`;

const inspect = `(() => {
  const wrong = [];
  if (!document.title.endsWith(' · Earshot')) wrong.push('the title is ' + document.title);
  ${wrongWithTexts}${wrongWithLinks}${wrongWithPlaces}
  const place = (element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [element.localName, x, y, width, height].join(' ');
  };
  const places = [...document.querySelectorAll('header, nav, main, h1, aside, aside h2')].map(place);
  const heights = [...document.querySelectorAll('ol > li')].map((row) => row.getBoundingClientRect().height);
  const body = document.body.cloneNode(true);
  for (const one of body.querySelectorAll('bdi, time, figure, output')) one.replaceWith(one.localName);
  for (const one of body.querySelectorAll('a[target]')) one.replaceWith('link');
  for (const one of body.querySelectorAll('[data-state]')) one.remove();
  for (const one of body.querySelectorAll('[aria-pressed]')) one.removeAttribute('aria-pressed');
  const rows = [...body.querySelectorAll('ol > li')].map((row, at) => row.innerHTML + heights[at]);
  for (const one of body.querySelectorAll('ol')) one.remove();
  return {
    peek: new URLSearchParams(location.search).get('peek'),
    frame: [...places, body.innerHTML].join('\\n'),
    rows,
    wrong,
    text: document.body.textContent,
  };
})()`;

export async function inspectPage(page: Page): Promise<PageInspection> {
  const { text, ...inspection } = await page.evaluate<PageInspection & { text: string }>(inspect);
  const hidden = unseenIn(text);
  return {
    ...inspection,
    wrong: [...inspection.wrong, ...(hidden === undefined ? [] : [`hidden: ${hidden}`])],
  };
}
