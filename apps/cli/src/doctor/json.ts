/** The value at a path of an answer, or undefined. */
export function at(value: unknown, ...path: ReadonlyArray<string | number>): unknown {
  return path.reduce<unknown>(
    (found, key) =>
      typeof found === 'object' && found !== null && Object.hasOwn(found, key)
        ? Reflect.get(found, key)
        : undefined,
    value,
  );
}

export function textAt(value: unknown, ...path: ReadonlyArray<string | number>): string | undefined {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : undefined;
}

export function listAt(value: unknown, ...path: ReadonlyArray<string | number>): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** X sends numbers as strings or as numbers, depending on the version. */
export function numberAt(value: unknown, ...path: ReadonlyArray<string | number>): number | undefined {
  const found = at(value, ...path);
  if (typeof found === 'number') return found;
  return typeof found === 'string' && /^\d{1,15}$/.test(found) ? Number(found) : undefined;
}
