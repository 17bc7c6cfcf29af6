import axe from 'axe-core';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { type Account, type ServerUnderTest, startWorld, type World } from '../../../e2e/src/world.ts';

/** Long, so that tests also pass on a busy machine. */
const timeoutMs = 240_000;

/** A real server with its console, and a real browser. */
export interface Console extends AsyncDisposable {
  readonly world: World;
  readonly server: ServerUnderTest;
  readonly account: Account;
  /** Opens a page in a new browser context, signed in by default. Its requests are recorded. */
  open(options?: PageOptions): Promise<OpenPage>;
}

interface PageOptions {
  readonly colorScheme?: 'light' | 'dark';
  readonly signedIn?: boolean;
  /** Disables the content security policy, for control tests. */
  readonly bypassCSP?: boolean;
}

export interface OpenPage {
  readonly page: Page;
  readonly requested: string[];
  /** Script errors and violations of the content security policy. */
  readonly problems: string[];
}

/** `env` has the settings of the server. */
export async function startConsole(env: Record<string, string> = {}): Promise<Console> {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await startWorld());
  const server = await world.startServer(env);
  const account = await world.newAccount();
  const browser = await startBrowser();
  stack.defer(() => browser.close());
  const running = stack.move();
  return {
    world,
    server,
    account,
    async open({ signedIn = true, ...options } = {}) {
      const opened = await openPage(browser, server.url, options);
      if (signedIn) await signIn(opened.page, account);
      return opened;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/**
 * Starts the Chromium of Debian, so that nothing is downloaded. Its sandbox is off because tests run as root. It resolves no
 * host names, so that requests to other hosts stay on this machine.
 */
export function startBrowser({ env = {} }: { env?: Record<string, string> } = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: '/usr/bin/chromium',
    env: { ...process.env, ...env },
    args: ['--no-sandbox', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
    timeout: timeoutMs,
  });
}

export async function openPage(
  browser: Browser,
  url: string,
  options: Omit<PageOptions, 'signedIn'> = {},
): Promise<OpenPage> {
  const context = await browser.newContext({
    colorScheme: 'light',
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(timeoutMs);
  const requested: string[] = [];
  const problems: string[] = [];
  page.on('request', (request) => requested.push(request.url()));
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => {
    if (/content security policy|trusted ?(type|html|script)/i.test(message.text()))
      problems.push(message.text());
  });
  await page.goto(url);
  return { page, requested, problems };
}

async function signIn(page: Page, { key }: Account): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Feed' }).waitFor();
}

/** Moves the focus with the keyboard. Fails if the target cannot be reached. */
export async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await target.waitFor();
  for (let presses = 0; presses < 60; presses++) {
    if ((await target.and(page.locator(':focus')).count()) > 0) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${target.toString()} cannot be reached by ${key}`);
}

/** The accessibility violations that axe finds, with their places. */
export async function findAccessibilityViolations(page: Page): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source);
  return page.evaluate(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`,
  );
}
