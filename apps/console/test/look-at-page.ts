import { unseenIn } from '@earshot/mcp/injections';
import type { Page } from 'playwright-core';

/** What a page shows around strangers' texts, and what is wrong with it. */
export interface Look {
  /** The match that is looked at. */
  readonly peek: string | null;
  /** All but what strangers wrote, times, the histogram and whether the list is live: the markup, and where its parts are. */
  readonly frame: string;
  /** The same of the rows of the list, of which only those in sight exist. */
  readonly rows: readonly string[];
  readonly wrong: readonly string[];
}

/** Strangers' words stand in `bdi`, with marks in them and nothing else. */
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

const look = `(() => {
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

export async function lookAt(page: Page): Promise<Look> {
  const { text, ...seen } = await page.evaluate<Look & { text: string }>(look);
  const unseen = unseenIn(text);
  return { ...seen, wrong: [...seen.wrong, ...(unseen === undefined ? [] : [`hidden: ${unseen}`])] };
}
