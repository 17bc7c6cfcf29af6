import type { SourceState } from '@earshot/contract';

/** What a person does about the state of a source; docs/sources.md explains the states. */
export const whatToDo: Readonly<Record<SourceState, string>> = {
  starting: 'Nothing: it is about to connect.',
  live: 'Nothing.',
  reconnecting: 'Nothing, unless it lasts: then look at the network.',
  failing: "Look at the upstream's status page.",
  rate_limited: 'Find out who else uses the token.',
  slot_busy: 'Find out who else uses the token.',
  no_rules: 'Nothing: the first rule opens the stream.',
  rules_invalid: 'Look at the rules of the source upstream.',
  provisioning: 'Wait some minutes.',
  no_credit: 'Add credit to the upstream account. It is tried again by itself.',
  spend_cap: "Raise the spending limit in the upstream's console.",
  usage_cap: 'Change the plan of the upstream account, or wait for its next cycle.',
  credentials:
    'Check that the token is valid and that the plan of its app allows filtered streams; set another token and restart.',
  bad_request: 'Update Earshot, or report it.',
  degraded: "Look at the state of the app in the upstream's console.",
  log_unavailable: 'Look at NATS.',
  stopped: 'Nothing, unless it lasts: then look whether a node with the role `ingest` runs.',
};
