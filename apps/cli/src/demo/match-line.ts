import { styleText } from 'node:util';
import type { DemoMatch } from './api.ts';
import { fitWidth, printable } from './printable.ts';

const sourceWidth = 24;
const platformWidth = 8;

/** One line for people; coloured by `styleText`, so only on a terminal that wants colours. */
export function matchLine(match: DemoMatch, columns: number): string {
  const { platform, payload } = match;
  const time = new Date(match.created_at).toTimeString().slice(0, 8);
  const source = fitWidth(sourceOf(match), sourceWidth);
  const text = printable(payload.title ?? payload.text ?? match.platform_post_id);
  const textWidth = Math.max(10, columns - time.length - platformWidth - sourceWidth - 6);
  return [
    styleText('dim', time),
    styleText(platform === 'x' ? 'cyan' : 'magenta', fitWidth(printable(platform), platformWidth)),
    styleText('bold', source),
    fitWidth(text, textWidth).trimEnd(),
  ].join('  ');
}

function sourceOf({ payload, platform_post_id }: DemoMatch): string {
  const { author } = payload;
  if (author?.handle) return printable(`@${author.handle}`);
  if (author?.name) return printable(author.name);
  return printable(URL.parse(platform_post_id)?.hostname ?? platform_post_id);
}
