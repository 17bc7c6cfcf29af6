/** Copies to the clipboard, which is available only over HTTPS or from localhost. */
export async function copyText(text: string): Promise<void> {
  if (!navigator.clipboard) throw new Error('There is no clipboard.');
  await navigator.clipboard.writeText(text);
}
