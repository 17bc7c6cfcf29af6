import { EarshotError } from '@earshot/sdk';

/** The messages of the API about a field and its nested fields: `budget` includes `budget.usd`. */
export function violationOf(error: Error | null, field: string): string | undefined {
  if (!(error instanceof EarshotError)) return undefined;
  const found = error.details.violations?.filter(
    (one) => one.field === field || one.field.startsWith(`${field}.`),
  );
  return found?.length ? found.map(({ message }) => message).join(' ') : undefined;
}

/** The error, unless the form shows all of it at its fields. */
export function otherError(error: Error | null, fields: readonly string[]): Error | null {
  if (!(error instanceof EarshotError)) return error;
  const { violations } = error.details;
  const isAtFields =
    violations !== undefined &&
    violations.length > 0 &&
    violations.every(({ field }) => fields.some((one) => field === one || field.startsWith(`${one}.`)));
  return isAtFields ? null : error;
}
