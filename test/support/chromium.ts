import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { withTimeout } from '../../src/lib/async/timeout.ts';

/** Undefined where there is none on the PATH. */
export const CHROMIUM: string | undefined = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((folder) => ['chromium', 'chromium-browser'].map((name) => join(folder, name)))
  .find((path) => existsSync(path));

/** A page of a headless Chromium with a profile of its own, driven through the DevTools protocol. */
export interface BrowserPage {
  /** Answers the next question for user and password. */
  signInAs(user: string, password: string): void;
  /** Resolves once all that the page names is loaded. */
  open(url: string): Promise<void>;
  /** The value of an expression in the page. */
  evaluate<T>(expression: string): Promise<T>;
  /** Resolves as soon as the expression is true in the page, across navigation. */
  waitFor(expression: string): Promise<void>;
  click(selector: string): Promise<void>;
  press(key: 'Tab' | 'Enter'): Promise<void>;
  /** Into what has the focus. */
  type(text: string): Promise<void>;
  emulate(screen: {
    readonly width: number;
    readonly isDark: boolean;
    readonly hasScript?: boolean;
  }): Promise<void>;
  /** PNG of the whole page. */
  takePicture(): Promise<Buffer>;
  /** What it wrote to the console as errors, exceptions and refused resources. */
  readonly errors: readonly string[];
  close(): Promise<void>;
}

/** Bound of every wait; a machine with ten times the work that it has processors for keeps within it. */
const WITHIN_MS = 100_000;

const KEYS = {
  Tab: { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 },
  Enter: { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' },
} as const;

export async function openBrowser(): Promise<BrowserPage> {
  const profile = await mkdtemp(join(tmpdir(), 'backhaul-chromium-'));
  const browser = launch(profile);
  const connection = connect(browser);
  const { targetId } = await connection.send<{ targetId: string }>('Target.createTarget', {
    url: 'about:blank',
  });
  const { sessionId } = await connection.send<{ sessionId: string }>('Target.attachToTarget', {
    targetId,
    flatten: true,
  });
  const send = <T>(method: string, params: object = {}) => connection.send<T>(method, params, sessionId);

  const errors: string[] = [];
  let credentials = { username: '', password: '' };
  const asked = new Set<string>();
  const handlers: Readonly<Record<string, (params: EventParams) => void>> = {
    'Runtime.exceptionThrown': ({ exceptionDetails }) => errors.push(explain(exceptionDetails)),
    'Runtime.consoleAPICalled': ({ type, args }) => {
      if (type === 'error') errors.push(JSON.stringify(args));
    },
    'Log.entryAdded': ({ entry }) => {
      if (entry?.level === 'error') errors.push(`${entry.text} ${entry.url ?? ''}`);
    },
    'Fetch.requestPaused': ({ requestId }) => forget(send('Fetch.continueRequest', { requestId })),
    'Fetch.authRequired': ({ requestId = '' }) => {
      const response = asked.has(requestId) ? 'CancelAuth' : 'ProvideCredentials';
      asked.add(requestId);
      const authChallengeResponse = { response, ...credentials };
      forget(send('Fetch.continueWithAuth', { requestId, authChallengeResponse }));
    },
  };
  connection.listen((method, params) => handlers[method]?.(params));
  for (const domain of ['Page', 'Runtime', 'Log']) await send(`${domain}.enable`);
  await send('Fetch.enable', { handleAuthRequests: true });

  const evaluate = async <T>(expression: string): Promise<T> => {
    const how = { awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await send<{ result: { value: T } } & EventParams>(
      'Runtime.evaluate',
      { expression, ...how },
    );
    if (exceptionDetails) throw new Error(explain(exceptionDetails));
    return result.value;
  };
  const waitFor = async (expression: string): Promise<void> => {
    const startMs = performance.now();
    for (;;) {
      try {
        return await evaluate(toWait(expression));
      } catch (error) {
        // The page was left for another one, which is asked the same.
        const isLeft = /context|navigated/i.test(String(error));
        if (!isLeft || performance.now() - startMs > WITHIN_MS) throw error;
      }
    }
  };
  return {
    errors,
    signInAs(username, password) {
      credentials = { username, password };
    },
    async open(url) {
      const loaded = connection.next('Page.loadEventFired');
      const { errorText } = await send<{ errorText?: string }>('Page.navigate', { url });
      if (errorText) throw new Error(`${url}: ${errorText}`);
      await loaded;
    },
    evaluate,
    waitFor,
    async click(selector) {
      const at = await evaluate<object>(`(() => {
        const one = document.querySelector(${JSON.stringify(selector)});
        one.scrollIntoView({ block: 'center' });
        const { left, top, width, height } = one.getBoundingClientRect();
        return { x: left + width / 2, y: top + height / 2 };
      })()`);
      const button = { button: 'left', clickCount: 1 };
      for (const type of ['mousePressed', 'mouseReleased'])
        await send('Input.dispatchMouseEvent', { type, ...at, ...button });
    },
    async press(key) {
      await send('Input.dispatchKeyEvent', { type: 'keyDown', ...KEYS[key] });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...KEYS[key], text: undefined });
    },
    async type(text) {
      await send('Input.insertText', { text });
    },
    async emulate({ width, isDark, hasScript = true }) {
      const size = { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 };
      await send('Emulation.setDeviceMetricsOverride', size);
      const features = [{ name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' }];
      await send('Emulation.setEmulatedMedia', { features });
      await send('Emulation.setScriptExecutionDisabled', { value: !hasScript });
    },
    async takePicture() {
      const { data } = await send<{ data: string }>('Page.captureScreenshot', {
        captureBeyondViewport: true,
      });
      return Buffer.from(data, 'base64');
    },
    async close() {
      const ended = once(browser, 'exit');
      await connection.send('Browser.close').catch(() => browser.kill('SIGKILL'));
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function launch(profile: string): ChildProcess {
  if (CHROMIUM === undefined) throw new Error('there is no chromium on the PATH');
  const args = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--no-first-run',
    '--remote-debugging-pipe',
    `--user-data-dir=${profile}`,
  ];
  return spawn(CHROMIUM, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
}

/** What is read of the events of the protocol. */
interface EventParams {
  readonly requestId?: string;
  readonly type?: string;
  readonly args?: unknown;
  readonly entry?: { readonly level: string; readonly text: string; readonly url?: string };
  readonly exceptionDetails?: Problem;
}

interface Problem {
  readonly text: string;
  readonly exception?: { readonly description?: string };
}

const explain = ({ text, exception }: Problem | undefined = { text: '' }) =>
  `${text} ${exception?.description ?? ''}`;

/** Of a page that was left meanwhile. */
const forget = (answer: Promise<unknown>) => void answer.catch(() => {});

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: EventParams;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** Requests and events of the protocol: JSON over two pipes, each message ended by a NUL. */
function connect(browser: ChildProcess) {
  const [input, output] = [browser.stdio[3] as Writable, browser.stdio[4] as Readable];
  const open = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  const listeners = new Set<(method: string, params: EventParams) => void>();
  let last = 0;
  let rest = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    const messages = (rest + text).split('\0');
    rest = messages.pop() ?? '';
    for (const message of messages) {
      const { id, method = '', params = {}, result, error } = JSON.parse(message) as Message;
      if (id === undefined) for (const listener of listeners) listener(method, params);
      else if (error) open.get(id)?.reject(new Error(error.message));
      else open.get(id)?.resolve(result);
      if (id !== undefined) open.delete(id);
    }
  });
  input.on('error', () => {}); // it has ended, which says more
  browser.once('exit', (code, signal) => {
    for (const { reject } of open.values()) reject(new Error(`chromium ended with ${code ?? signal}`));
  });
  const listen = (listener: (method: string, params: EventParams) => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const bound = <T>(what: string, answer: Promise<T>): Promise<T> =>
    withTimeout(answer, WITHIN_MS, () => new Error(`waited ${WITHIN_MS} ms for ${what}`));
  return {
    listen,
    send<T>(method: string, params: object = {}, sessionId?: string): Promise<T> {
      last += 1;
      const id = last;
      const answered = new Promise<T>((resolve, reject) =>
        open.set(id, { resolve: (result) => resolve(result as T), reject }),
      );
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
      return bound(`${method} ${JSON.stringify(params).slice(0, 500)}`, answered);
    },
    /** Resolves at the next event of this name. */
    next: (name: string) =>
      bound(
        name,
        new Promise<void>((resolve) => {
          const stop = listen((method) => {
            if (method !== name) return;
            stop();
            resolve();
          });
        }),
      ),
  };
}

/** A promise in the page: it looks whenever the document changes, and keeps no time. */
const toWait = (expression: string) => `new Promise((resolve, reject) => {
  const look = () => {
    try {
      if (!(${expression})) return;
      observer.disconnect();
      resolve();
    } catch (error) {
      observer.disconnect();
      reject(error);
    }
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  look();
})`;
