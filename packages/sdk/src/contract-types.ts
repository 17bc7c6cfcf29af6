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
 * The SDK uses only types of the contract. The build expands the types of this module, so that the published package needs
 * neither the contract nor zod. This does not work for generics.
 */

/** The HTTP method and path of each operation, and whether it changes something. */
export type Operations = {
  [Id in OperationId]: {
    method: (typeof operations)[Id]['method'];
    path: (typeof operations)[Id]['path'];
    changes: (typeof operations)[Id]['changes'];
  };
};

/** The schema of a GET parses a query string, so callers use its output type. */
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
