/** The package has no types. Only this function is measured. */
declare module 'lucene' {
  export function parse(query: string): unknown;
}
