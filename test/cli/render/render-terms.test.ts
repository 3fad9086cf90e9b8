import { expect, it } from 'vitest';
import { manifestSchema } from '../../../config/manifest/manifest.ts';
import { renderTerms } from '../../../src/cli/render/render-terms.ts';

it('names limits, key and approval, and never the key itself', () => {
  const manifest = manifestSchema.parse({
    name: 'shop',
    source: { type: 'amplitude', from: 'x' },
    destination: { url: 'https://analytics.example.com', apiKey: '${SHOP_KEY}' },
    limits: { eventsPerMinute: 50_000 },
    approval: { reference: 'request 4711', eventsPerMinute: 50_000 },
  });
  expect(renderTerms(manifest)).toBe(
    '50,000 events a minute, 4 requests in flight, batches of 1,000 events, key ${SHOP_KEY}, approval "request 4711"',
  );
});
