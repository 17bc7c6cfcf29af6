import { isMap, isScalar, isSeq, LineCounter, type Node, type Pair, parseDocument, type YAMLMap } from 'yaml';

/** A place in a file, counted from 1 as editors do. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export type SourceFile = ReturnType<typeof readSourceFile>;

/** Reads a YAML file and keeps the places of its values. */
export function readSourceFile(path: string, text: string) {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problems = document.errors.map(({ pos, message }) => ({ place: placeAt(pos[0]), message }));
  const pairs = indexPairs();
  const find = (steps: readonly PropertyKey[]) => follow(document.contents, steps, pairs);
  const allLines = text.split(/\r?\n/);
  return {
    path,
    text,
    /** The YAML syntax errors. */
    problems,
    value: (problems.length > 0 ? null : document.toJS()) as unknown,
    /** The place of a value, or of its closest existing parent. */
    placeOf: (steps: readonly PropertyKey[]) => placeAt(find(steps).offset),
    /** The place of its key. */
    placeOfKey: (steps: readonly PropertyKey[]) => placeAt(find(steps).keyOffset),
    /** The place of an offset within a string, or the beginning of the string if quotes or folding have moved its characters. */
    placeWithin(steps: readonly PropertyKey[], offset: number): Place {
      const { node, offset: begin } = find(steps);
      if (!isScalar(node) || typeof node.value !== 'string' || !node.range) return placeAt(begin);
      const [from, to] = node.range;
      const at = text.indexOf(node.value, from);
      return placeAt(at >= 0 && at + node.value.length <= to ? at + offset : begin);
    },
    lineAt: ({ line }: Place) => allLines[line - 1] ?? '',
  };
}

interface Found {
  readonly node: unknown;
  readonly offset: number;
  readonly keyOffset: number;
}

/** Finds a scalar at its beginning, and a collection at its key, where a reader expects it. */
function follow(root: Node | null, steps: readonly PropertyKey[], pairs: PairsOf): Found {
  let found = atOffset(root) ?? { node: root, offset: 0, keyOffset: 0 };
  for (const step of steps) {
    const next = isMap(found.node)
      ? inMap(pairs(found.node).get(String(step)))
      : isSeq(found.node)
        ? atOffset(found.node.items[Number(step)])
        : undefined;
    if (next === undefined) break;
    found = next;
  }
  return found;
}

type PairsOf = (map: YAMLMap) => ReadonlyMap<string, Pair>;

/** Indexes each map by key once, because a file may have a thousand rules. */
function indexPairs(): PairsOf {
  const known = new Map<YAMLMap, ReadonlyMap<string, Pair>>();
  return (map) => {
    const found = known.get(map);
    if (found) return found;
    const named = new Map(map.items.map((pair) => [isScalar(pair.key) ? String(pair.key.value) : '', pair]));
    known.set(map, named);
    return named;
  };
}

function inMap(pair: Pair | undefined): Found | undefined {
  if (pair === undefined) return undefined;
  const keyOffset = atOffset(pair.key)?.offset ?? 0;
  const isShown = isScalar(pair.value) && pair.value.value !== null;
  const offset = isShown ? atOffset(pair.value)?.offset : keyOffset;
  return { node: pair.value, offset: offset ?? keyOffset, keyOffset };
}

function atOffset(node: unknown): Found | undefined {
  if (!isScalar(node) && !isMap(node) && !isSeq(node)) return undefined;
  const offset = node.range?.[0];
  return offset === undefined ? undefined : { node, offset, keyOffset: offset };
}
