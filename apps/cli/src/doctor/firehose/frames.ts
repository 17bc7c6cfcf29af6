import { parseJson } from '../http.ts';

export interface Frame {
  readonly event: string;
  readonly id: string | null;
  readonly data: unknown;
}

/** The complete server-sent events of a text. A comment is a frame without a name. */
export function framesOf(text: string): Frame[] {
  const blocks = text.replaceAll('\r\n', '\n').split('\n\n').slice(0, -1);
  return blocks.map((block) => {
    const valuesOf = (field: string) =>
      block
        .split('\n')
        .flatMap((line) => (line.startsWith(`${field}:`) ? line.slice(field.length + 1).trim() : []));
    return {
      event: valuesOf('event')[0] ?? '',
      id: valuesOf('id')[0] ?? null,
      data: parseJson(valuesOf('data').join('\n')),
    };
  });
}

export const hasEnded = (text: string) =>
  framesOf(text).some(({ event }) => event === 'end' || event === 'error');
