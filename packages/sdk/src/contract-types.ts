import type {
  AnswerOf,
  ErrorCode as ContractErrorCode,
  ErrorDetails as ContractErrorDetails,
  Match as ContractMatch,
  Notice as ContractNotice,
  Removal as ContractRemoval,
  Rule as ContractRule,
  errorCodes,
  OperationId,
  operations,
  RequestInput,
  RequestOf,
} from '@earshot/contract';

/**
 * Everything that the SDK knows of the contract: types, nothing that runs. The build writes this module out in plain
 * types, so that the published package needs neither the contract nor zod. Therefore no generics here.
 */

/** What the SDK must know of each operation to call it. */
export type Operations = {
  [Id in OperationId]: {
    method: (typeof operations)[Id]['method'];
    path: (typeof operations)[Id]['path'];
    changes: (typeof operations)[Id]['changes'];
  };
};

/** A query string carries text, so the schema of a GET begins with text; callers write what comes out of it. */
export type Requests = {
  [Id in OperationId]: (typeof operations)[Id]['method'] extends 'GET' ? RequestOf<Id> : RequestInput<Id>;
};

export type Answers = { [Id in OperationId]: AnswerOf<Id> };

export type ErrorCode = ContractErrorCode;
/** Whether the same request may be sent again. */
export type Retryable = { [Code in ContractErrorCode]: (typeof errorCodes)[Code]['retryable'] };

export type ErrorDetails = ContractErrorDetails;
export type Match = ContractMatch;
export type Notice = ContractNotice;
export type Removal = ContractRemoval;
export type Rule = ContractRule;
