const digits = '0123456789abcdefghijklmnopqrstuvwxyz';
const length = 12;

/** A match's public id is its position in the match log, so ids sort in the order of the log. */
export function matchIdOf(position: number): string {
  let text = '';
  for (let rest = position, place = 0; place < length; place++, rest = Math.floor(rest / digits.length)) {
    text = digits.charAt(rest % digits.length) + text;
  }
  return `mat_${text}`;
}

/** Null for what is no id of a match. */
export function positionOf(matchId: string): number | null {
  const [, text] = /^mat_([0-9a-z]{12})$/.exec(matchId) ?? [];
  const position = text === undefined ? Number.NaN : Number.parseInt(text, digits.length);
  return Number.isSafeInteger(position) ? position : null;
}
