import { visible } from '@earshot/mcp/visible';
import { webAddress } from '../webhooks/formats/chat-content.ts';
import type { DigestContent, ShownMatch, ShownStory } from './message-content.ts';

export interface RenderedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** A section of the mail, in text and HTML. Untrusted content cannot hide anything or start markup. */
interface Part {
  readonly heading: string | null;
  readonly lines: readonly Line[];
}

interface Line {
  readonly text: string;
  /** Checked by `webAddress`. */
  readonly link?: string;
}

export function renderMail(content: DigestContent): RenderedMail {
  const name = oneLine(content.name);
  const parts = [periodOf(content), countsOf(content), coverageOf(content), ...matchesOf(content)];
  const title = `${name}, message ${content.number}`;
  return {
    subject: `${name} #${content.number}: ${totalText(content)}`,
    text: `${[title, ...parts.map(toText)].join('\n\n')}\n`,
    html: `<!doctype html>\n<html><head><meta charset="utf-8"><title>${escape(title)}</title></head><body>\n<h1>${escape(title)}</h1>\n${parts.map(toHtml).join('\n')}\n</body></html>\n`,
  };
}

export function totalText({ total, total_is_minimum }: DigestContent): string {
  if (total === 0) return 'nothing matched';
  const count = `${total_is_minimum ? 'at least ' : ''}${total.toLocaleString('en')}`;
  return `${count} ${total === 1 ? 'match' : 'matches'}`;
}

export function periodOf({ from, to, time_zone }: DigestContent): Part {
  const line = `${localTime(from, time_zone)} to ${localTime(to, time_zone)} (${time_zone})`;
  return { heading: null, lines: [{ text: line }] };
}

export function countsOf(content: DigestContent): Part {
  const { counts, total, coverage } = content;
  if (total === 0) {
    return { heading: null, lines: [{ text: `Nothing matched${nothingWords(coverage)}` }] };
  }
  const lines = counts.map(({ rule_name, rule_id, platform, matches }) => ({
    text: `${matches.toLocaleString('en')}  ${oneLine(rule_name)} (${rule_id}) on ${platform}`,
  }));
  if (content.hidden) lines.push({ text: hiddenText(content.hidden) });
  return { heading: totalText(content), lines };
}

/** A search finds most of what a gap lacks, not all. */
function hiddenText({ muted, not_relevant, in_story = 0 }: NonNullable<DigestContent['hidden']>): string {
  const parts = [
    muted > 0 && `${muted} muted`,
    not_relevant > 0 && `${not_relevant} not relevant`,
    in_story > 0 && `${in_story} in the same stories`,
  ];
  return `Not shown: ${parts.filter(Boolean).join(', ')}.`;
}

function nothingWords({ without_gap, gaps }: DigestContent['coverage']): string {
  if (!without_gap) return ', but coverage has gaps.';
  return gaps.length === 0 ? '. Coverage is complete.' : '. All gaps in the coverage were repaired.';
}

export function coverageOf({ coverage, to, time_zone }: DigestContent): Part {
  const { gaps, without_gap, complete_through } = coverage;
  const lines = gaps.map((gap) => {
    const end = gap.to === null ? 'now' : localTime(gap.to, time_zone);
    const outcome = gap.repaired ? 'repaired' : 'not covered';
    return {
      text: `${gap.platform}: ${localTime(gap.from, time_zone)} to ${end}, ${gap.reason}, ${outcome}`,
    };
  });
  if (without_gap && gaps.length === 0)
    return { heading: 'Coverage', lines: [{ text: 'Complete, without a gap.' }] };
  const isOpen = complete_through === null || complete_through < to;
  const known =
    complete_through === null
      ? 'Nothing was watched.'
      : `Complete through ${localTime(complete_through, time_zone)}.`;
  return { heading: 'Coverage', lines: [...lines, ...(isOpen ? [{ text: known }] : [])] };
}

function matchesOf({ matches, total, time_zone }: DigestContent): Part[] {
  const [first, ...others] = matches.map((match) => matchLines(match, time_zone));
  if (!first) return [];
  if (matches.some(({ story }) => story)) {
    const heading = 'Stories, the largest first';
    return [{ heading, lines: first }, ...others.map((lines) => ({ heading: null, lines }))];
  }
  const shown =
    matches.length < total ? `the newest ${matches.length} of ${total.toLocaleString('en')}` : 'newest first';
  return [
    { heading: `Matches, ${shown}`, lines: first },
    ...others.map((lines) => ({ heading: null, lines })),
  ];
}

function matchLines(
  { created_at, platform, author, title, text, url, why, id, story }: ShownMatch,
  zone: string,
): Line[] {
  const head = `${localTime(created_at, zone)}  ${platform}${author === null ? '' : `  ${oneLine(author)}`}  ${id}`;
  const link = webAddress(url);
  return [
    ...(story && story.matches > 1 ? [{ text: storyText(story) }] : []),
    { text: head },
    ...(title === null ? [] : [{ text: oneLine(title) }]),
    ...(text === null ? [] : linesOf(text).map((line) => ({ text: line }))),
    // The text of a link is its target, so that it cannot look like another one.
    ...(link === null ? [] : [{ text: oneLine(link), link }]),
    ...(link === null && url !== null ? [{ text: oneLine(url) }] : []),
    ...(why.length === 0 ? [] : [{ text: `Matched: ${why.map(oneLine).join('; ')}` }]),
  ];
}

export function storyText({ matches, platforms }: ShownStory): string {
  const parts = Object.entries(platforms).map(
    ([platform, count = 0]) => `${platform} ${count.toLocaleString('en')}`,
  );
  return `${matches.toLocaleString('en')} matches: ${parts.join(', ')}`;
}

/** Line breaks of the text stay, but not several blank lines. Each line is indented like the others. */
function linesOf(text: string): string[] {
  return visible(text.trim(), { lines: true })
    .replace(/\n\s*\n/g, '\n\n')
    .split('\n');
}

function oneLine(text: string): string {
  return visible(text.trim().replace(/\s*\n\s*/g, ' / '));
}

function localTime(iso: string, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
  return parts.format(new Date(iso));
}

function toText({ heading, lines }: Part): string {
  return [...(heading === null ? [] : [heading]), ...lines.map(({ text }) => `  ${text}`.trimEnd())].join(
    '\n',
  );
}

function toHtml({ heading, lines }: Part): string {
  const head = heading === null ? '' : `<h2>${escape(heading)}</h2>\n`;
  const body = lines.map(({ text, link }) =>
    link === undefined ? escape(text) : `<a href="${escape(link)}" rel="noreferrer">${escape(text)}</a>`,
  );
  // Untrusted content never begins a line of the mail.
  return `${head}<p>${body.join('<br>\n  ')}</p>`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
