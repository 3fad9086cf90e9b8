/**
 * Takes the pictures of the quick start again, from a real run: `npm run docs:screenshots` writes `docs/images/`, with
 * a folder, a scheme and a width as arguments to look at the pages otherwise (`-- /tmp/look dark 400`). Needs Chromium
 * on the PATH (CHROMIUM names another) and nothing else: export, API, Redis and database are made for it and removed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const BACKHAUL = join(ROOT, 'src/setup/backhaul.mjs');
const [out = join(ROOT, 'docs/images'), scheme = 'light', width = '1000'] = process.argv.slice(2);
const NAME = 'exports';
const LIVE = 'exports-live';
/** Of the run that is under way: throughput has a point a minute. */
const SHOWN_AFTER_MS = 150_000;
const OPERATOR = 'operator';
const CHROMIUM = process.env.CHROMIUM ?? 'chromium';

const folder = mkdtempSync(join(tmpdir(), 'backhaul-screenshots-'));
const port = await findFreePort();
const env = {
  ...process.env,
  BACKHAUL_DATA_DIR: join(folder, 'data'),
  BACKHAUL_PORT: String(port),
  BACKHAUL_QUEUES_ADMIN_PASSWORD: OPERATOR,
};

/** Runs a command to its end; one that fails ends this script with what it said. */
function backhaul(...args) {
  const ended = spawnSync(process.execPath, [BACKHAUL, ...args], { cwd: folder, env, encoding: 'utf8' });
  if (ended.status !== 0) throw new Error(`backhaul ${args.join(' ')}:\n${ended.stderr}`);
  return ended.stdout;
}

const begin = (...args) =>
  spawn(process.execPath, [BACKHAUL, ...args], { cwd: folder, env, stdio: 'ignore' });

function take(name, url, height) {
  const path = join(resolve(out), `${name}.png`);
  const options = [
    '--headless',
    '--no-sandbox',
    '--hide-scrollbars',
    `--user-data-dir=${join(folder, 'profile')}`,
    `--window-size=${width},${height}`,
    `--blink-settings=preferredColorScheme=${scheme === 'dark' ? 0 : 1}`,
    `--screenshot=${path}`,
  ];
  const ended = spawnSync(CHROMIUM, [...options, url], { encoding: 'utf8' });
  if (ended.status !== 0) throw new Error(`${CHROMIUM} (CHROMIUM names another):\n${ended.stderr}`);
  process.stdout.write(`${path}: ${Math.round(statSync(path).size / 1000)} kB\n`);
}

async function findFreePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  const { port: free } = server.address();
  await new Promise((done) => server.close(done));
  return free;
}

/** Once the page says so; 100 s at most. */
async function until(ask) {
  for (let tries = 0; tries < 1000; tries += 1) {
    if (await ask().catch(() => false)) return;
    await wait(100);
  }
  throw new Error('the pages did not get there within 100 s');
}

let server;
try {
  mkdirSync(resolve(out), { recursive: true });
  backhaul('demo');
  mkdirSync(join(folder, NAME));
  cpSync(
    join(env.BACKHAUL_DATA_DIR, 'demo/amplitude-export.zip'),
    join(folder, NAME, 'amplitude-export.zip'),
  );
  rmSync(env.BACKHAUL_DATA_DIR, { recursive: true });
  backhaul('init', NAME, '--out', 'migration.yaml');
  backhaul('plan', 'migration.yaml', '--full', '--html', 'plan.html');

  server = begin('serve');
  const user = 'backhaul';
  const at = () => `http://${user}:${OPERATOR}@127.0.0.1:${port}`;
  const page = async (path) => {
    const authorization = `Basic ${Buffer.from(`${user}:${OPERATOR}`).toString('base64')}`;
    return (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization } })).text();
  };
  await until(async () => (await page('/')).includes('Migrations'));
  backhaul('run', 'migration.yaml');
  backhaul('verify', NAME, '--html', 'comparison.html');
  take('migration', `${at()}/migrations/${NAME}`, 1150);
  take('plan', `file://${join(folder, 'plan.html')}`, 1000);
  take('comparison', `file://${join(folder, 'comparison.html')}`, 1000);

  // To an address, with the budget that it has: the run takes four minutes.
  const keys = JSON.parse(readFileSync(join(env.BACKHAUL_DATA_DIR, 'keys.json'), 'utf8'));
  const destination = `destination: { url: "http://127.0.0.1:${port}", apiKey: "\${BACKHAUL_PROJECT_API_KEY}" }\n`;
  const manifest = readFileSync(join(folder, 'migration.yaml'), 'utf8').replace(
    `name: ${NAME}`,
    `name: ${LIVE}`,
  );
  writeFileSync(join(folder, 'live.yaml'), `${manifest}${destination}`);
  env.BACKHAUL_PROJECT_API_KEY = keys.projectKey;
  const run = begin('run', 'live.yaml');
  const ended = new Promise((done) => run.once('exit', done));
  await wait(SHOWN_AFTER_MS);
  const isRunning = /<span class="badge running">[\s\S]*?<dd>[1-9]/;
  await until(async () => isRunning.test(await page(`/migrations/${LIVE}`)));
  take('running', `${at()}/migrations/${LIVE}`, 900);
  run.kill('SIGINT');
  await ended;
} finally {
  if (server) {
    const gone = new Promise((done) => server.once('exit', done));
    server.kill('SIGTERM');
    await gone;
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
