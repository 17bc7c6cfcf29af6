/** Removes ids, times and secrets. The token of the platform is already removed when its answer is read. */
export function redacted(text: string): string {
  return text
    .replaceAll(/\bfhm?_\w+/g, '[secret]')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi, '[id]')
    .replaceAll(/\d{6,}/g, '[number]')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, '[time]');
}

/** The redacted beginning of a platform's text. It is redacted before it is cut, because a part of an id must not remain. */
export function firstWords(text: string, lengthMax: number): string {
  return redacted(text).slice(0, lengthMax);
}
