import type { IncomingMessage } from 'node:http';

export type JsonObject = Record<string, unknown>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

const bodyBytesMax = 64 * 1024 * 1024;

/** The body, or undefined when it is not a JSON object. An empty body is `{}`. */
export async function readJsonObject(request: IncomingMessage): Promise<JsonObject | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    const bytes = Buffer.from(part);
    size += bytes.length;
    if (size > bodyBytesMax) return undefined;
    parts.push(bytes);
  }
  const text = Buffer.concat(parts).toString('utf8').trim();
  if (text === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The string itself; an empty one for any other value. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
