import { colourOf } from '../platforms.ts';
import { fitSegments, hiddenReasons, highlightedText, type ShownMatch } from './highlight.ts';
import { cutWidth, fitWidth, printable } from './printable.ts';
import type { Screen } from './screen.ts';

const sourceWidth = 24;
const platformWidth = 8;
const textWidthMin = 10;
const reasonsWidthMax = 30;

/** One line for people: time, platform, author, and the text with the words that matched. */
export function matchLine(match: ShownMatch, { columns, paint }: Pick<Screen, 'columns' | 'paint'>): string {
  const time = new Date(match.created_at).toTimeString().slice(0, 8);
  const segments = highlightedText(match);
  const isShown = segments.some(({ isHit }) => isHit);
  const reasons = isShown ? '' : cutWidth(hiddenReasons(match), reasonsWidthMax);
  const taken = time.length + platformWidth + sourceWidth + 6 + (reasons === '' ? 0 : reasons.length + 4);
  const text = fitSegments(segments, Math.max(textWidthMin, columns - taken));
  return [
    paint('dim', time),
    paint(colourOf(match.platform), fitWidth(printable(match.platform), platformWidth)),
    paint('bold', fitWidth(sourceOf(match), sourceWidth)),
    text.map((one) => (one.isHit ? paint(['bold', 'yellow'], one.text) : one.text)).join(''),
    ...(reasons === '' ? [] : [paint('dim', `(${reasons})`)]),
  ].join('  ');
}

function sourceOf({ payload, platform_post_id }: ShownMatch): string {
  const { author } = payload;
  if (author?.handle) return printable(`@${author.handle}`);
  if (author?.name) return printable(author.name);
  return printable(URL.parse(platform_post_id)?.hostname ?? platform_post_id);
}
