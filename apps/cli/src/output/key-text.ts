/** A new key for people; its first line is the key. */
export function keyText(created: {
  readonly key: string;
  readonly keyId: string;
  readonly until: string | null;
  readonly scopes: readonly string[];
}): string {
  const { key, keyId, until, scopes } = created;
  return [
    key,
    '',
    'Store this key now. It is not shown again, because only its hash is stored.',
    `Its id is ${keyId}. It works until ${until ?? 'it is revoked'} and may: ${scopes.join(', ')}.`,
  ].join('\n');
}
