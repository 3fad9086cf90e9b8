import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Contender } from './contender.ts';

type Import = (
  credentials: Readonly<Record<string, string>>,
  data: string,
  options: Readonly<Record<string, unknown>>,
) => Promise<{ readonly total: number; readonly empty: number }>;

/** Of undici: what mixpanel-import sends with. */
interface Undici {
  Pool: new (origin: string, options: object) => object;
}

/**
 * mixpanel-import with its Amplitude transform and its defaults. It knows no destination but Mixpanel, so its
 * connection pools are led to the sink before it makes them; `abridged` keeps it from collecting responses.
 */
export const runMixpanelImport: Contender = async ({ input, url, peers }) => {
  const require = createRequire(join(peers, 'package.json'));
  const undici = createRequire(require.resolve('mixpanel-import'))('undici') as Undici;
  const { Pool } = undici;
  undici.Pool = class extends Pool {
    constructor(_origin: string, options: object) {
      super(url, options);
    }
  };
  const load = require('mixpanel-import') as Import;
  const options = { recordType: 'event', vendor: 'amplitude', streamFormat: 'jsonl', abridged: true };
  const { total, empty } = await load({ secret: 'bench' }, input, options);
  return { records: total, sent: total - empty };
};
