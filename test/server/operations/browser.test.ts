import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/exit-code.ts';
import { findFreePort } from '../../../src/embedded/free-port.ts';
import type { MigrationView } from '../../../src/migrations/status/view.ts';
import { respondWithPage } from '../../../src/server/operations/pages/page.ts';
import {
  renderMigration,
  renderMigrationPage,
} from '../../../src/server/operations/pages/render-migration.ts';
import {
  type BackhaulProcess,
  killAllBackhaul,
  startBackhaul,
  waitForServices,
} from '../../support/backhaul-process.ts';
import { type BrowserPage, CHROMIUM, openBrowser } from '../../support/chromium.ts';
import { ALL } from '../../support/form.ts';
import { startRedis, type TestRedis } from '../../support/redis.ts';
import { type StrictDestination, startStrictDestination } from '../../support/strict-destination.ts';
import { createWorkplace, type Workplace } from '../../support/workplace.ts';
import { createRunningView, createStoppedView } from './rich-view.ts';

const NAME = 'shop';
const REPLAY = `${NAME}.replay-1`;
const RECORDS = 200;
const API_KEY = 'phc_browser';
/** What the page of a migration says: the number of records with an outcome. */
const READ = `Number(document.querySelector('#figures dd').firstChild.data.replaceAll(',', ''))`;
const isState = (state: string) => `document.querySelector('#state .badge')?.textContent === '${state}'`;
const CHECKS = `(() => {${readFileSync(new URL('../../support/page-checks.js', import.meta.url), 'utf8')}})()`;

const SCREENS = [1280, 400].flatMap((width) => [false, true].map((isDark) => ({ width, isDark })));

/** The pages of migrations of a real `backhaul serve` as people use them. */
describe.runIf(ALL && CHROMIUM !== undefined)('in Chromium', () => {
  let workplace: Workplace;
  let redis: TestRedis;
  let destination: StrictDestination;
  let page: BrowserPage;
  let url: string;
  let env: Record<string, string>;
  let dataDir: string;
  let run: BackhaulProcess;

  beforeAll(async () => {
    workplace = createWorkplace();
    redis = await startRedis();
    destination = await startStrictDestination({ apiKey: API_KEY, latencyMs: 1_000 });
    dataDir = await workplace.readyDataDir('serve');
    env = {
      REDIS_URL: redis.url,
      KEY: API_KEY,
      BACKHAUL_PORT: String(await findFreePort()),
      BACKHAUL_QUEUES_PASSWORD: 'look',
      BACKHAUL_QUEUES_ADMIN_PASSWORD: 'act',
    };
    const server = startBackhaul(['serve'], { dataDir, env });
    url = (await waitForServices(dataDir, server)).api?.url ?? '';
    page = await openBrowser();
    run = startBackhaul(['run', '--json', writeMigration(workplace, destination.url)], { dataDir, env });
  });
  afterAll(async () => {
    await page?.close();
    await killAllBackhaul();
    await destination?.stop();
    await redis?.stop();
    await workplace?.remove();
  });

  it('shows live numbers, is paused by keyboard and resumed by a click', async () => {
    page.signInAs('backhaul', 'look');
    await page.open(url);
    await page.waitFor(`document.querySelector('a[href="/migrations/${NAME}"]') !== null`);
    await page.click(`a[href="/migrations/${NAME}"]`);
    await page.waitFor(isState('running'));
    expect(await page.evaluate(`document.querySelector('form')`)).toBeNull();

    page.signInAs('backhaul', 'act');
    await page.click('#actions a');
    await page.waitFor(`document.querySelector('#actions form') !== null`);
    const before = await page.evaluate<number>(`globalThis.stayed = ${READ}`);
    await page.waitFor(`${READ} > ${before}`);
    expect(await page.evaluate('globalThis.stayed')).toBe(before); // the page was not loaded again
    expect(await page.evaluate(`document.getElementById('age').textContent`)).toBe('Live');

    for (const screen of SCREENS) expect(await listFlaws(screen)).toEqual([]);

    await focus('Pause');
    await page.press('Enter');
    await page.waitFor(isState('paused'));
    expect((await run.ended).code).toBe(EXIT.stoppedResumable);
    expect(destination.events().size).toBeLessThan(RECORDS);

    destination.setLatency(0);
    await page.click(`form[action$="/resume"] button`);
    await page.waitFor(isState('finished'));
    expect(await page.evaluate(READ)).toBe(RECORDS);
    expect(destination.events().size).toBe(RECORDS - 2);
  });

  it('replays what was rejected, and shows the page of the replay', async () => {
    await page.click('form[action$="/replay"] button');
    await page.waitFor(`location.pathname === '/migrations/${REPLAY}'`);
    await page.waitFor(`document.querySelector('#state .badge.finished') !== null`);
    expect(await page.evaluate(READ)).toBe(2);
    await page.open(`${url}/migrations/${NAME}`);
    const reasons = await page.evaluate(`document.querySelector('#reasons').textContent`);
    expect(reasons).toContain(`2 replayed by ${REPLAY} finished, where 2 are rejected and left`);
    expect(reasons).toContain('No rejects are left to replay here.');
    expect(await page.evaluate(`document.querySelector('form[action$="/replay"]')`)).toBeNull();
  });

  it.each(SCREENS)('has no flaws that can be seen at $width px, dark: $isDark', async (screen) => {
    for (const path of ['/', `/migrations/${NAME}`, `/migrations/${REPLAY}`]) {
      await page.open(`${url}${path}`);
      expect(await listFlaws(screen), path).toEqual([]);
    }
  });

  it.each(SCREENS)('has none with long texts and many days at $width px, dark: $isDark', async (screen) => {
    for (const view of [createRunningView(), createStoppedView()]) {
      const shown = await serveView(view);
      await page.open(shown.url);
      expect(await listFlaws(screen), view.state).toEqual([]);
      await shown.close();
    }
  });

  it('would show the flaws that are looked for', async () => {
    await page.open(url);
    await page.evaluate(`for (const style of [
      'color: #aaa; background: #fff', 'position: absolute; left: 99%; white-space: nowrap',
      'margin-top: -4rem', 'width: 200vw',
    ]) {
      const one = document.body.appendChild(document.createElement('p'));
      one.textContent = 'words that are looked for';
      one.style.cssText = style;
    }`);
    const flaws = await listFlaws({ width: 400, isDark: false });
    for (const flaw of ['contrast', ' / ', 'cut off', 'px in 400'])
      expect(flaws).toContainEqual(expect.stringContaining(flaw));
  });

  it('ends its stream when it is left, as browsers keep pages and open six connections at most', async () => {
    await page.open(url);
    await page.evaluate(`{
      const { close } = EventSource.prototype;
      EventSource.prototype.close = function () {
        close.call(this);
        sessionStorage.closed = new URL(this.url).pathname;
      };
    }`);
    await page.open(`${url}/migrations/${NAME}`);
    expect(await page.evaluate('sessionStorage.closed')).toBe('/operations/live');
  });

  it('can be used by keyboard from its first link to its last button', async () => {
    await page.open(`${url}/migrations/${REPLAY}`);
    const passed = await focus('Replay');
    expect(passed.slice(0, 4)).toEqual(['Skip to the content', 'Migrations', 'Queues', 'API']);
  });

  it('keeps the focus where the link to reload it had it, once it is live', async () => {
    await page.open(`${url}/migrations/${REPLAY}`);
    await page.evaluate(`{
      const age = document.getElementById('age');
      age.innerHTML = '<a href="/">Reload</a>';
      age.firstChild.focus();
      source.onopen();
    }`);
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Live');
  });

  it('can be read without JavaScript', async () => {
    await page.emulate({ width: 400, isDark: false, hasScript: false });
    await page.open(`${url}/migrations/${NAME}`);
    expect(await page.evaluate(READ)).toBe(RECORDS);
    expect(await page.evaluate(`document.querySelector('noscript meta[http-equiv=refresh]') !== null`)).toBe(
      true,
    );
    await page.emulate({ width: 1280, isDark: false });
  });

  it('writes no error to the console', () => {
    expect(page.errors).toEqual([]);
  });

  /** With all that can be opened open. */
  async function listFlaws(screen: (typeof SCREENS)[number]): Promise<string[]> {
    await page.emulate(screen);
    await page.evaluate(CHECKS);
    await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`);
    return page.evaluate('listFlaws()');
  }

  /** Goes on with Tab until what is called so has the focus. Each one on the way can be seen. */
  async function focus(name: string): Promise<string[]> {
    const passed: string[] = [];
    await page.evaluate(CHECKS);
    for (;;) {
      await page.press('Tab');
      const at = await page.evaluate<{ name: string; shows: boolean } | undefined>('describeFocus()');
      expect(at, `behind ${passed.join(', ')}`).toMatchObject({ shows: true });
      passed.push(at?.name ?? '');
      if (at?.name === name) return passed;
    }
  }
});

/** The page of an operator, which hears of nothing new. */
async function serveView(view: MigrationView): Promise<{ url: string; close(): Promise<void> }> {
  const app = new Hono();
  const body = renderMigrationPage(view.migration, renderMigration(view, { token: 'token' }), view.reason);
  app.get('/', (c) => respondWithPage(c, { title: view.migration, address: '/', live: '/live', body }));
  app.get('/operations/live.js', (c) => c.body('', 200, { 'content-type': 'text/javascript' }));
  const server = createServer(getRequestListener(app.fetch)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Two days of records in one file, of which each request takes two; two records cannot be mapped. */
function writeMigration(workplace: Workplace, destinationUrl: string): string {
  mkdirSync(join(workplace.folder, 'exports'));
  const lines = Array.from({ length: RECORDS }, (_, index) => {
    const time = `2024-02-0${(index % 2) + 1}T04:05:06Z`;
    return JSON.stringify({
      e: 'viewed',
      u: `user-${index % 7}`,
      t: index % 100 === 50 ? 'yesterday' : time,
      n: index,
    });
  });
  writeFileSync(join(workplace.folder, 'exports/a.jsonl'), lines.map((line) => `${line}\n`).join(''));
  return workplace.manifest({
    name: NAME,
    source: {
      type: 'jsonl',
      from: 'exports/*.jsonl',
      mapping: {
        event: { column: 'e' },
        distinctId: { column: 'u' },
        timestamp: { column: 't' },
        key: ['n'],
      },
    },
    destination: { url: destinationUrl, apiKey: '${KEY}' },
    limits: { batch: { events: 2 }, requestsInFlight: 1 },
    rejects: { failAbove: '50%' },
  });
}
