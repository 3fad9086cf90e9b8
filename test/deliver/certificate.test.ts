import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { createUnlimitedBudget } from '../../src/deliver/budget/budget.ts';
import { createDeliver } from '../../src/deliver/deliver.ts';
import { ConfigError, PausedError } from '../../src/lib/errors.ts';
import { probeDestination } from '../../src/migrations/probe-destination.ts';
import { startSelfSigned } from '../support/self-signed.ts';
import { startStrictDestination } from '../support/strict-destination.ts';
import { targetEvent, toBatch } from '../support/target-events.ts';

const toStop: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of toStop.splice(0).reverse()) await stop();
});

it('pauses at a certificate that is self-signed, at the first attempt, and says what to set', async () => {
  const { url, stop } = await startSelfSigned();
  toStop.push(stop);
  const { deliver, close } = createDeliver({
    destination: { url, apiKey: 'phc_key' },
    limits: { requestsInFlight: 1 },
    budget: createUnlimitedBudget(),
    random: Math.random,
    now: Date.now,
    log: pino({ enabled: false }),
    retry: { attempts: 1 },
  });
  toStop.push(close);
  const sending = deliver(toBatch([targetEvent(1)]), new AbortController().signal);
  await expect(sending).rejects.toThrow(PausedError);
  await expect(sending).rejects.toThrow(/DEPTH_ZERO_SELF_SIGNED_CERT\): set NODE_EXTRA_CA_CERTS/);
  const probing = probeDestination({ url, apiKey: 'phc_key' });
  await expect(probing).rejects.toThrow(ConfigError);
  await expect(probing).rejects.toThrow(/NODE_EXTRA_CA_CERTS/);
});

it('says in one line that a service does not speak TLS', async () => {
  const { url, stop } = await startStrictDestination({ apiKey: 'phc_key' });
  toStop.push(stop);
  const probing = probeDestination({ url: url.replace('http:', 'https:'), apiKey: 'phc_key' });
  await expect(probing).rejects.toThrow(
    /\(the TLS handshake failed \(ERR_SSL_\w+\): there may be http:\/\/ at this address, or another version of TLS\)/,
  );
});
