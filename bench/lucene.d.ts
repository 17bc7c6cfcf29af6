/** The package has no types of its own; only this one function is measured. */
declare module 'lucene' {
  export function parse(query: string): unknown;
}
