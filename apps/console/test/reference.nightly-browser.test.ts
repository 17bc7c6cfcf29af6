import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Console, startConsole } from './console-page.ts';

let running: Console;
beforeAll(async () => {
  running = await startConsole();
});
afterAll(() => running?.[Symbol.asyncDispose]());

/** Opens `/docs`, waits until Scalar has rendered it, and records its requests. */
async function openReference(width: number, colorScheme: 'light' | 'dark') {
  const { page, problems } = await running.open({ signedIn: false, colorScheme });
  await page.setViewportSize({ width, height: 800 });
  // Leaves the console, so that it sends no more requests.
  await page.goto('about:blank');
  const requested: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  await page.goto(`${running.server.url}/docs`);
  await page.getByRole('heading', { name: 'Create a rule' }).waitFor();
  return { page, problems, requested };
}

test('/docs shows every operation, offers no other service and requests nothing from another host', async () => {
  const { page, problems, requested } = await openReference(1280, 'light');
  const document = await (await fetch(`${running.server.url}/openapi.json`)).json();
  const operations = Object.entries<object>(Object(document).paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `/${method.toUpperCase()}${path}`),
  );
  expect(operations.length).toBeGreaterThan(30);
  const shown = await page.evaluate<string[]>(
    `[...document.querySelectorAll('a[href^="#"]')].map((link) => link.getAttribute('href'))`,
  );
  const isShown = (operation: string) => shown.some((link) => link.endsWith(operation));
  expect(operations.filter((operation) => !isShown(operation))).toEqual([]);

  await page.locator('a[href$="/POST/api.GetCoverage"]').click();
  await page.getByText('planned_ends').first().waitFor();
  const operation = page.locator('section').filter({ hasText: 'planned_ends' }).last();
  await operation.getByText('Auth Required').click();
  await page.getByText('matches:read').first().waitFor();

  for (const name of [/test request/i, /api client/i, /ask ai/i, /connect mcp/i])
    expect(await page.getByText(name).count()).toBe(0);
  expect(problems).toEqual([]);
  expect(requested.map((url) => url.replace(running.server.url, ''))).toEqual([
    '/docs',
    '/docs/scalar.js',
    '/openapi.json',
  ]);
});

test.each([
  { width: 390, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
] as const)('/docs fits into $width pixels in $colorScheme colours', async ({ width, colorScheme }) => {
  const { page, problems } = await openReference(width, colorScheme);
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
  expect(await page.evaluate(`document.body.classList.contains('${colorScheme}-mode')`)).toBe(true);
  expect(problems).toEqual([]);
});
