import type { AnswerOf, Platform, Reader } from '@earshot/contract';
import type { Change } from '../accounts/change.ts';

/** The named readers of an account. */
export interface ReaderStore {
  find(accountId: string, name: string): Promise<NamedReader | null>;
  /** Makes it, or gives the one that somebody else has just made under this name. */
  create(accountId: string, reader: NewReader): Promise<CreateReaderOutcome>;
  /** Moves it when `moves` says so of the place where it is; null when there is no such reader. */
  move(
    accountId: string,
    name: string,
    to: { place: string; moves: Moves },
  ): Promise<{ moved: boolean } | null>;
  list(accountId: string): Promise<Reader[]>;
  /** Null when there is no such reader. */
  delete(change: Change, name: string): Promise<AnswerOf<'DeleteReader'> | null>;
}

export interface NamedReader {
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  /** Null while nothing is acknowledged and it reads from the oldest match on. */
  readonly place: string | null;
}

export interface NewReader extends NamedReader {
  readonly name: string;
  readonly readersMax: number;
}

type Moves = (place: string | null) => boolean;

export type CreateReaderOutcome =
  | { readonly kind: 'exists'; readonly reader: NamedReader }
  | { readonly kind: 'readers_limit'; readonly used: number };
