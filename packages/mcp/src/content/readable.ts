/** Texts that are unambiguous without quotes. */
const plain = /^[\w.:+/@-]+$/;

/**
 * Writes the fields of an answer as lines, for clients that show their model only the text. It is complete, but shorter than
 * the JSON of the structured content. Texts are quoted and stay on one line, so that none can imitate a field.
 */
export function writeReadable(fields: object): string {
  return linesOf(fields, '').join('\n');
}

function linesOf(fields: object, indent: string): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (!isObject(value)) return [`${indent}${name}: ${write(value)}`];
    if (Object.values(value).length === 0) return [`${indent}${name}: none`];
    const inner = Array.isArray(value)
      ? value.map((entry) => `${indent}  - ${writeEntry(entry)}`)
      : linesOf(value, `${indent}  `);
    return [`${indent}${name}:`, ...inner];
  });
}

/** An entry of a list, on one line. */
function writeEntry(entry: unknown): string {
  if (!isObject(entry)) return write(entry);
  return Object.entries(entry)
    .flatMap(([name, value]) => {
      if (value === undefined || value === null) return [];
      return isObject(value) ? [`${name} (${writeEntry(value)})`] : [`${name} ${write(value)}`];
    })
    .join(', ');
}

function write(value: unknown): string {
  if (value === null) return 'none';
  return typeof value === 'string' && plain.test(value) ? value : JSON.stringify(value);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
