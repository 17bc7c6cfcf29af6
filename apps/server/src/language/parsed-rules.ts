import type { Platform } from '@earshot/contract';
import type { Node } from '@earshot/query';
import { platforms } from '../upstream/platforms.ts';

/** Parsed rules, by their registered value: the same few rules are asked for again and again. */
export interface ParsedRules {
  /** Null when the value cannot be read, which only a value from before a change of the language can be. */
  rootOf(platform: Platform, value: string): Node | null;
}

const rememberedMax = 10_000;

export function createParsedRules(): ParsedRules {
  const remembered = new Map<string, Node | null>();
  return {
    rootOf(platform, value) {
      const key = `${platform} ${value}`;
      const known = remembered.get(key);
      if (known !== undefined) return known;
      if (remembered.size >= rememberedMax) remembered.clear();
      const { root } = platforms[platform].language.parse(value);
      remembered.set(key, root);
      return root;
    },
  };
}
