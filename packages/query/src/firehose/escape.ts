const ideographicSpace = 0x3000;
const whiteClass = 1;
const specialClass = 2;

/** Lucene's character classes. Outside ASCII only the ideographic space is special. */
const classes = new Uint8Array(128);
for (const character of ' \t\n\r') classes[character.charCodeAt(0)] = whiteClass;
for (const character of '+-!():^[]"{}~*?\\/') classes[character.charCodeAt(0)] = specialClass;

export function isWhite(unit: number): boolean {
  return unit < 128 ? classes[unit] === whiteClass : unit === ideographicSpace;
}

/** Outside quotes these are syntax and need a backslash to be literal. */
export function isSyntax(unit: number): boolean {
  return unit < 128 ? classes[unit] !== 0 : unit === ideographicSpace;
}

/** Outside quotes: a backslash before every character that is syntax. */
export function escapeTerm(value: string): string {
  // A backslash keeps a value that is spelled like an operator from being one.
  if (/^(?:AND|OR|NOT|&&|\|\|)$/.test(value)) return `\\${value}`;
  let escaped = '';
  for (const character of value) escaped += isSyntax(character.charCodeAt(0)) ? `\\${character}` : character;
  return escaped;
}

/** A pattern whose slashes and colons were written without their backslashes. */
export function escapeSlashes(pattern: string): string {
  return pattern.replaceAll(/\\[\s\S]|[/:]/g, (part) => (part.length > 1 ? part : `\\${part}`));
}

export function quote(value: string): string {
  const plain = !value.includes('"') && !value.includes('\\');
  return plain ? `"${value}"` : `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}

/**
 * A backslash makes the next character literal, `\uXXXX` is a code unit. Null when such a sequence is not
 * four hexadecimal digits, which Lucene refuses.
 */
export function unescape(raw: string): string | null {
  if (!raw.includes('\\')) return raw;
  let value = '';
  for (let at = 0; at < raw.length; at += 1) {
    if (raw.charAt(at) !== '\\') {
      value += raw.charAt(at);
      continue;
    }
    at += 1;
    if (raw.charAt(at) === 'u') {
      const digits = raw.slice(at + 1, at + 5);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) return null;
      value += String.fromCharCode(Number.parseInt(digits, 16));
      at += 4;
    } else value += raw.charAt(at);
  }
  return value;
}
