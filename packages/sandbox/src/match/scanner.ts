/** Stops a parser at the first fault; `parseWith` turns it into words. */
class SyntaxFault extends Error {}

/** A place in a rule text; every pattern must be sticky. */
export type Scanner = {
  take: (pattern: RegExp) => RegExpExecArray | null;
  looksAt: (pattern: RegExp) => boolean;
  /** The character at the place; empty at the end. */
  peek: () => string;
  rest: () => string;
  skipSpace: () => void;
  /** 1-based, as both services count. */
  position: () => number;
  fail: (message: string, position?: number) => never;
};

type ScannerOptions = { source: string; describe: (message: string, position: number) => string };

function createScanner({ source, describe }: ScannerOptions): Scanner {
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at = pattern.lastIndex;
    return found;
  };
  return {
    take,
    looksAt: (pattern) => {
      pattern.lastIndex = at;
      return pattern.test(source);
    },
    peek: () => source.slice(at, at + 1),
    rest: () => source.slice(at),
    skipSpace: () => void take(/\s*/y),
    position: () => at + 1,
    fail: (message, position = at + 1) => {
      throw new SyntaxFault(describe(message, position));
    },
  };
}

export type Parsed<Node> = { ok: true; root: Node } | { ok: false; details: string[] };

export function parseWith<Node>(options: ScannerOptions, parse: (scanner: Scanner) => Node): Parsed<Node> {
  try {
    return { ok: true, root: parse(createScanner(options)) };
  } catch (error) {
    if (error instanceof SyntaxFault) return { ok: false, details: [error.message] };
    throw error;
  }
}

export function unescapeText(text: string): string {
  return text.replaceAll(/\\(.)/gs, '$1');
}
