import type { Contender } from './contenders/contender.ts';

/**
 * `run-contender <name> <input> <url> <folder> <peers>`: one run; the last line that it prints is its result as
 * JSON. Only the contender's own modules are loaded, so that no other shows in its memory.
 */
const CONTENDERS: Readonly<Record<string, () => Promise<Contender>>> = {
  parts: async () => (await import('./contenders/parts.ts')).runParts,
  documented: async () => (await import('./contenders/posthog.ts')).runDocumented,
  awaited: async () => (await import('./contenders/posthog.ts')).runAwaited,
  'mixpanel-import': async () => (await import('./contenders/mixpanel-import.ts')).runMixpanelImport,
  naive: async () => (await import('./contenders/naive.ts')).runNaive,
  gunzip: async () => (await import('./contenders/ceiling.ts')).runGunzip,
  parse: async () => (await import('./contenders/ceiling.ts')).runParse,
  serialise: async () => (await import('./contenders/ceiling.ts')).runSerialise,
};

const [name = '', input = '', url = '', folder = '', peers = ''] = process.argv.slice(2);
const load = CONTENDERS[name];
if (!load) throw new Error(`no contender "${name}"; there are ${Object.keys(CONTENDERS).join(', ')}`);
const result = await (await load())({ input, url, folder, peers });
process.stdout.write(`\n${JSON.stringify(result)}\n`, () => process.exit(0));
