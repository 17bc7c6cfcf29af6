/** What only the console's pages may ask: not part of the public API, and so without the SDK. */
export async function callConsole(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<Response> {
  const headers = new Headers({ 'x-earshot-console': '1' });
  if (body) headers.set('content-type', 'application/json');
  try {
    return await fetch(path, {
      method,
      headers,
      credentials: 'same-origin',
      ...(body && { body: JSON.stringify(body) }),
    });
  } catch {
    throw new Error('The server cannot be reached.');
  }
}

/** The server's own words, where the answer is the server's. */
export async function problemOf(answer: Response): Promise<string> {
  const body: unknown = await answer.json().catch(() => null);
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : null;
  return typeof message === 'string' ? message : `The server answered with status ${answer.status}.`;
}
