/** The identifiers of accounts: almost all begin with `did:plc:`, some with `did:web:`. */
const did = /^did:[a-z]+:[a-z0-9._:%-]*[a-z0-9._-]$/;
const handle = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,10}[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export function isDid(lower: string): boolean {
  return did.test(lower);
}

export function isHandle(lower: string): boolean {
  return lower.length <= 253 && handle.test(lower);
}
