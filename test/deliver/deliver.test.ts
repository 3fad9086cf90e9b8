import { setMaxListeners } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Batch } from '../../src/contract/delivery.ts';
import { createUnlimitedBudget } from '../../src/deliver/budget/budget.ts';
import { createDeliver, type DeliverOptions } from '../../src/deliver/deliver.ts';
import { copyEvent } from '../../src/deliver/ranges.ts';
import { ConfigError, FencedOutError, PausedError, UnavailableError } from '../../src/lib/errors.ts';
import { startResponder } from '../support/answering.ts';
import { createManualClock, type ManualClock } from '../support/manual-clock.ts';
import { createRandom } from '../support/seeded-random.ts';
import { type StrictDestinationOptions, startStrictDestination } from '../support/strict-destination.ts';
import { numbers, targetEvent, toBatch } from '../support/target-events.ts';

const API_KEY = 'phc_a_project_key';
const toStop: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of toStop.splice(0).reverse()) await stop();
});

const TAKEN = '{"status":1}';
const QUICK = { attempts: 20, baseMs: 2, maxMs: 20 };
const open = new AbortController().signal;
setMaxListeners(0, open);

/** No bound of the sockets: their time cannot be moved. */
const TIMEOUTS = { headersMs: 0, bodyMs: 0, totalMs: 55_000 };

function delivering(url: string, more: Partial<DeliverOptions> = {}) {
  const lines: string[] = [];
  const made = createDeliver({
    destination: { url, apiKey: API_KEY },
    limits: { requestsInFlight: 4 },
    budget: createUnlimitedBudget(),
    random: createRandom(1),
    now: () => Date.now(),
    log: pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }),
    retry: QUICK,
    timeouts: TIMEOUTS,
    clock: createManualClock(),
    ...more,
  });
  toStop.push(() => made.close());
  return { ...made, lines };
}

async function strict(options: Partial<StrictDestinationOptions> = {}) {
  const destination = await startStrictDestination({ apiKey: API_KEY, ...options });
  toStop.push(destination.stop);
  return destination;
}

async function answering(listener: RequestListener): Promise<string> {
  const { url, stop } = await startResponder(listener);
  toStop.push(stop);
  return url;
}

describe('deliver', () => {
  it('sends one gzipped request in the form of the contract', async () => {
    const seen: unknown[] = [];
    const url = await answering(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      seen.push(
        request.url,
        request.method,
        request.headers['content-type'],
        request.headers['content-encoding'],
      );
      seen.push(JSON.parse(gunzipSync(Buffer.concat(pieces)).toString()));
      response.end('{"status":1}');
    });
    const events = numbers(3).map((number) => targetEvent(number));
    const { deliver } = delivering(`${url}/base/`);
    expect(await deliver(toBatch(events), open)).toEqual(events.map(() => ({ kind: 'accepted' })));
    expect(seen).toEqual([
      '/base/batch/',
      'POST',
      'application/json',
      'gzip',
      { api_key: API_KEY, historical_migration: true, batch: events },
    ]);
  });

  it('sends no event again, to see whether it is still taken, that went out under another condition', async () => {
    const destination = await strict();
    const texts: string[] = [];
    destination.overrule((_events, text) => void texts.push(text));
    const { deliver } = delivering(destination.url);
    const under = (scope: string) => ({ scope, assert: async () => () => {} });
    const bad = { ...targetEvent(2), uuid: 'not a uuid' };
    await deliver(toBatch([targetEvent(1)]), open, under('turn 1'));
    const second = await deliver(toBatch([bad, targetEvent(3)]), open, under('turn 2'));
    expect(second.map(({ kind }) => kind)).toEqual(['refused', 'accepted']);
    expect(texts.filter((text) => text.includes(targetEvent(1).uuid))).toHaveLength(1);
    // Its own it may send again, and does.
    expect(texts.filter((text) => text.includes(targetEvent(3).uuid)).length).toBeGreaterThan(2);
  });

  it('gives back a permit that came after a sleep, and sends nothing for a migration that was paused meanwhile', async () => {
    const destination = await strict();
    let known = true;
    let asleep = true;
    let settled = 0;
    const budget = {
      ...createUnlimitedBudget(),
      async take() {
        if (asleep) known = false;
        const settle = async () => {
          settled += 1;
        };
        return { settle };
      },
    };
    let paused = false;
    const standing = {
      isKnown: () => known,
      async assert() {
        if (paused) throw new FencedOutError('the migration is paused');
        [known, asleep] = [true, false];
      },
    };
    const { deliver } = delivering(destination.url, { budget, standing });
    expect(await deliver(toBatch([targetEvent(1)]), open)).toEqual([{ kind: 'accepted' }]);
    expect({ settled, requests: destination.requests.length }).toEqual({ settled: 2, requests: 1 });
    [asleep, paused] = [true, true];
    await expect(deliver(toBatch([targetEvent(2)]), open)).rejects.toThrow('the migration is paused');
    expect({ settled, requests: destination.requests.length }).toEqual({ settled: 3, requests: 1 });
  });

  it('says which requests of a condition were answered by the service, and of none that it may still be at work', async () => {
    const destination = await strict();
    const noted: string[] = [];
    let asked = 0;
    const assert = async () => {
      asked += 1;
      const request = asked;
      return () => void noted.push(`${request} answered`);
    };
    let answers = 0;
    destination.overrule(() => {
      answers += 1;
      if (answers > 2) return undefined;
      return { status: answers === 1 ? 504 : 429, body: '' };
    });
    await delivering(destination.url).deliver(toBatch([targetEvent(1)]), open, { scope: 'turn 1', assert });
    expect(noted).toEqual(['2 answered', '3 answered']);
  });

  it('finds the bad events of a batch, refuses them and delivers all others', async () => {
    const destination = await strict();
    const bad = new Set([0, 311, 312, 999]);
    const events = numbers(1000).map((number) =>
      bad.has(number) ? { ...targetEvent(number), uuid: 'not a uuid' } : targetEvent(number),
    );
    const deliveries = await delivering(destination.url).deliver(toBatch(events), open);
    expect(deliveries).toHaveLength(1000);
    for (const [number, delivery] of deliveries.entries()) {
      expect(delivery).toEqual(
        bad.has(number)
          ? { kind: 'refused', detail: 'Invalid payload: Event field "uuid" is not a valid UUID!' }
          : { kind: 'accepted' },
      );
    }
    expect(destination.events().size).toBe(996);
    expect(destination.requests.length).toBeLessThan(100);
  });

  it('halves what is too large, remembers it, and refuses an event that is too large alone', async () => {
    const destination = await strict({ maxBodyBytes: 20_000 });
    const made = delivering(destination.url);
    const events = numbers(200).map((number) => targetEvent(number, { filler: 'x'.repeat(300) }));
    events[77] = targetEvent(77, { filler: 'x'.repeat(30_000) });
    const deliveries = await made.deliver(toBatch(events), open);
    expect(deliveries.map((delivery) => delivery.kind).filter((kind) => kind === 'refused')).toHaveLength(1);
    expect(deliveries[77]).toEqual({ kind: 'refused', detail: 'Request too large.' });
    expect(destination.events().size).toBe(199);

    expect(made.byteCap()).toBeGreaterThan(9_000);
    expect(made.byteCap()).toBeLessThanOrEqual(20_000);
    const before = destination.requests.length;
    await made.deliver(
      toBatch(numbers(200, 1000).map((n) => targetEvent(n, { filler: 'y'.repeat(300) }))),
      open,
    );
    // At most one larger size is tried.
    const tooLarge = destination.requests.slice(before).filter(({ status }) => status === 413);
    expect(tooLarge.length).toBeLessThanOrEqual(1);
  });

  it('does not shrink its requests for a 413 to a size that was accepted before', async () => {
    let number = 0;
    const url = await answering((request, response) => {
      request.resume().on('end', () => {
        number += 1;
        response.writeHead(number === 2 ? 413 : 200).end(TAKEN);
      });
    });
    const made = delivering(url);
    await made.deliver(toBatch(numbers(10).map((each) => targetEvent(each))), open);
    await made.deliver(toBatch(numbers(10).map((each) => targetEvent(each))), open);
    expect(made.byteCap()).toBe(Number.POSITIVE_INFINITY);
    expect(number).toBe(4);
  });

  it('grows its requests back after a 413 that no size had earned', async () => {
    let number = 0;
    const url = await answering((request, response) => {
      request.resume().on('end', () => {
        number += 1;
        response.writeHead(number === 1 ? 413 : 200).end(TAKEN);
      });
    });
    const { deliver, byteCap } = delivering(url);
    // The first batch is small, and so is what its 413 leaves.
    await deliver(toBatch(numbers(2).map((each) => targetEvent(each))), open);
    for (const batch of numbers(82)) {
      await deliver(toBatch(numbers(90, 90 * batch + 2).map((each) => targetEvent(each))), open);
    }
    expect(number).toBeLessThan(130);
    expect(byteCap()).toBe(Number.POSITIVE_INFINITY);
  });

  it('pauses when 20 single events in a row are refused, and delivers all once they are taken', async () => {
    const destination = await strict();
    destination.overrule({ status: 400, body: '{"detail":"Request blocked"}' });
    const { deliver } = delivering(destination.url);
    const batches = numbers(4).map((index) =>
      toBatch(numbers(100, 100 * index).map((each) => targetEvent(each))),
    );
    const ends = await Promise.allSettled(batches.map((batch) => deliver(batch, open)));
    for (const end of ends) {
      expect(end.status === 'rejected' && end.reason).toBeInstanceOf(PausedError);
      expect(String(end.status === 'rejected' && end.reason)).toMatch(
        /refused 20 single events in a row .*Request blocked.*--accept-refusals/,
      );
    }
    expect(destination.requests.length).toBeLessThan(150);

    destination.overrule(undefined);
    const again = delivering(destination.url);
    const deliveries = await Promise.all(batches.map((batch) => again.deliver(batch, open)));
    expect(deliveries.flat().every(({ kind }) => kind === 'accepted')).toBe(true);
    expect(destination.events().size).toBe(400);
  });

  it('pauses when the destination refuses what it accepted before, however few events are left', async () => {
    const destination = await strict();
    const { deliver } = delivering(destination.url);
    await deliver(toBatch(numbers(3).map((each) => targetEvent(each))), open);
    destination.overrule({ status: 400, body: '{"detail":"Request blocked"}' });
    const last = toBatch(numbers(5, 3).map((each) => targetEvent(each)));
    await expect(deliver(last, open)).rejects.toThrow(
      /refuses events that it accepted before .*Request blocked/,
    );
    await expect(deliver(last, open)).rejects.toBeInstanceOf(PausedError);
  });

  it('pauses for a few refused events while it cannot tell whether everything is refused', async () => {
    const destination = await strict();
    destination.overrule({ status: 400, body: '{"detail":"Request blocked"}' });
    const few = toBatch(numbers(19).map((each) => targetEvent(each)));
    const error = await delivering(destination.url)
      .deliver(few, open)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PausedError);
    expect(String(error)).toMatch(
      /refused all of the first events .*\(19; the first one: Request blocked\).*--accept-refusals/,
    );

    destination.overrule(undefined);
    const deliveries = await delivering(destination.url).deliver(few, open);
    expect(deliveries.every(({ kind }) => kind === 'accepted')).toBe(true);
  });

  it('pauses at the third whole batch that is refused, though it still takes what it took before', async () => {
    const destination = await strict();
    const bad = (number: number) => ({ ...targetEvent(number), uuid: 'not a uuid' });
    const { deliver } = delivering(destination.url);
    const send = (events: readonly object[]) => deliver(toBatch(events), open);
    const kinds = async (events: readonly object[]) => (await send(events)).map(({ kind }) => kind);
    await send([targetEvent(0)]);
    // Single events are no batches, and one good event begins again.
    for (const number of numbers(4, 1)) expect(await kinds([bad(number)])).toEqual(['refused']);
    for (const number of [10, 20]) expect(await kinds([bad(number), bad(number + 1)])).toHaveLength(2);
    expect(await kinds([targetEvent(30), bad(31)])).toEqual(['accepted', 'refused']);
    for (const number of [40, 50]) expect(await kinds([bad(number), bad(number + 1)])).toHaveLength(2);
    const error = await send([bad(60), bad(61)]).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PausedError);
    expect(String(error)).toMatch(/refused 3 whole batches in a row .*not a valid UUID/);
  });

  it('pauses at the 20th refused event, also where each is a batch of its own', async () => {
    const destination = await strict();
    const { deliver } = delivering(destination.url);
    const bad = (number: number) => toBatch([{ ...targetEvent(number), uuid: 'not a uuid' }]);
    await deliver(toBatch([targetEvent(0)]), open);
    for (const number of numbers(19, 1)) {
      expect(await deliver(bad(number), open)).toMatchObject([{ kind: 'refused' }]);
    }
    await expect(deliver(bad(20), open)).rejects.toThrow(/refused 20 single events in a row/);
  });

  it('sends good events again that were refused while the destination refused everything', async () => {
    const destination = await strict();
    const { deliver } = delivering(destination.url);
    // The flood ends in the middle of the batch; one event is bad itself.
    const events = numbers(8).map((number) =>
      number === 2 ? { ...targetEvent(number), uuid: 'not a uuid' } : targetEvent(number),
    );
    let requests = 0;
    destination.overrule(() => {
      requests += 1;
      return requests < 14 ? { status: 400, body: '{"detail":"Request blocked"}' } : undefined;
    });
    const deliveries = await deliver(toBatch(events), open);
    expect(deliveries.map(({ kind }) => kind === 'refused')).toEqual(numbers(8).map((each) => each === 2));
    expect(destination.events().size).toBe(7);
  });

  it('refuses a bad last event with two requests more, and with none more when it is told to go on', async () => {
    const events = [targetEvent(1), { ...targetEvent(2), uuid: 'not a uuid' }];
    const count = async (more: Partial<DeliverOptions>) => {
      const destination = await strict();
      const deliveries = await delivering(destination.url, more).deliver(toBatch(events), open);
      expect(deliveries.map(({ kind }) => kind)).toEqual(['accepted', 'refused']);
      return destination.requests.length;
    };
    // Both, the first alone, the second three times; before its third time and at the end the first again.
    expect(await count({})).toBe(7);
    expect(await count({ acceptRefusals: true })).toBe(5);
  });

  it('does not pause for bad events with good ones between', async () => {
    const destination = await strict();
    const isBad = (number: number) => number % 20 !== 10;
    const events = numbers(40).map((number) =>
      isBad(number) ? { ...targetEvent(number), uuid: 'not a uuid' } : targetEvent(number),
    );
    const deliveries = await delivering(destination.url).deliver(toBatch(events), open);
    expect(deliveries.map(({ kind }) => kind === 'refused')).toEqual(numbers(40).map(isBad));
  });

  it.each([
    ['for their size', { maxBodyBytes: 3_000 }, undefined],
    ['for a bad one', {}, 17],
  ])('sends halves in the order of their events when a batch is split %s', async (_name, options, bad) => {
    const destination = await strict(options);
    const events = numbers(64).map((number) =>
      number === bad ? { ...targetEvent(number), uuid: 'not a uuid' } : targetEvent(number),
    );
    await delivering(destination.url).deliver(toBatch(events), open);
    const arrived = [...destination.events().values()].map(({ properties }) => Number(properties['number']));
    expect(arrived).toEqual(numbers(64).filter((number) => number !== bad));
  });

  const ODD_ANSWERS: [string, number, string][] = [
    ['a firewall', 403, '<html>Request blocked</html>'],
    ['a gateway', 404, '<html>not found</html>'],
    ['a check of the schema', 422, '{"detail":"unprocessable"}'],
    ['a redirect', 302, ''],
    ['a page with 200', 200, '<html>The requested URL was rejected</html>'],
    ['a service that fails on it', 500, '{"detail":"server error"}'],
  ];
  const POISON = 1500;
  const isPoisoned = (_events: number, text: string) => text.includes(`"number":${POISON}}`);

  it.each(ODD_ANSWERS)('refuses one event alone that meets %s, in any batch', async (_name, status, body) => {
    // In the first batch of a process nothing was accepted before.
    for (const before of [0, 3]) {
      const destination = await strict();
      destination.overrule((events, text) => (isPoisoned(events, text) ? { status, body } : undefined));
      const { deliver } = delivering(destination.url, { retry: { ...QUICK, attempts: 8 } });
      for (const number of numbers(before)) await deliver(toBatch([targetEvent(number)]), open);
      const events = numbers(500, 1250).map((number) => targetEvent(number));
      const deliveries = await deliver(toBatch(events), open);
      expect(deliveries.flatMap(({ kind }, index) => (kind === 'refused' ? [index + 1250] : []))).toEqual([
        POISON,
      ]);
      expect(JSON.stringify(deliveries)).toContain(`HTTP ${status}`);
      expect(destination.events().size).toBe(before + 499);
      expect(destination.requests.length).toBeLessThan(120);
    }
  });

  it.each(ODD_ANSWERS)(
    'refuses nothing where all meet %s, with a bound of requests',
    async (_name, status, body) => {
      for (const acceptRefusals of [false, true]) {
        for (const before of [0, 1]) {
          const destination = await strict();
          const { deliver } = delivering(destination.url, {
            acceptRefusals,
            retry: { ...QUICK, attempts: 8 },
          });
          for (const number of numbers(before)) await deliver(toBatch([targetEvent(number)]), open);
          destination.overrule({ status, body });
          const events = numbers(500, 10).map((number) => targetEvent(number));
          const error = await deliver(toBatch(events), open).catch((reason: unknown) => reason);
          expect(error).toBeInstanceOf(status === 500 ? UnavailableError : Error);
          expect(['PausedError', 'ConfigError', 'UnavailableError']).toContain((error as Error).name);
          expect(destination.events().size).toBe(before);
          expect(destination.requests.length).toBeLessThan(30);
        }
      }
    },
  );

  it('refuses nothing where a flood of 403 begins while it looks for one event', async () => {
    for (const acceptRefusals of [false, true]) {
      const destination = await strict();
      let requests = 0;
      destination.overrule((events, text) => {
        requests += 1;
        return requests > 20 || isPoisoned(events, text) ? { status: 403, body: 'blocked' } : undefined;
      });
      const { deliver } = delivering(destination.url, { acceptRefusals });
      const events = numbers(500, 1250).map((number) => targetEvent(number));
      await expect(deliver(toBatch(events), open)).rejects.toBeInstanceOf(PausedError);
      expect(destination.requests.length).toBeLessThan(60);
    }
  });

  it('pauses where a large share meets a firewall, and goes on where an operator has looked', async () => {
    const send = async (acceptRefusals: boolean) => {
      const destination = await strict();
      destination.overrule((_events, text) =>
        /"number":\d*7}/.test(text) ? { status: 403, body: 'blocked' } : undefined,
      );
      const { deliver } = delivering(destination.url, { acceptRefusals });
      return deliver(toBatch(numbers(500).map((number) => targetEvent(number))), open);
    };
    await expect(send(false)).rejects.toThrow(
      /refused 20 single events and accepted \d+, .*blocked.*--accept-refusals/,
    );
    const kinds = (await send(true)).map(({ kind }) => kind === 'refused');
    expect(kinds).toEqual(numbers(500).map((number) => number % 10 === 7));
  });

  it('keeps apart an event of a turn that the service always fails on, as it may be stored all the same', async () => {
    for (const before of [0, 1]) {
      const destination = await strict();
      destination.overrule((events, text) =>
        isPoisoned(events, text) ? { status: 500, body: 'boom' } : undefined,
      );
      const { deliver } = delivering(destination.url, { retry: { ...QUICK, attempts: 3 } });
      const condition = { scope: 'turn 1', assert: async () => () => {} };
      if (before > 0) await deliver(toBatch([targetEvent(1)]), open, condition);
      const events = numbers(10, POISON - 4).map((number) => targetEvent(number));
      const deliveries = await deliver(toBatch(events), open, condition);
      expect(deliveries.filter(({ kind }) => kind !== 'accepted')).toEqual([
        { kind: 'refused', detail: expect.stringContaining('boom'), mayBeStored: true },
      ]);
      expect(deliveries[4]?.kind).toBe('refused');
    }
  });

  it('pauses at an event that is alone and refused, and keeps it apart where an operator has looked', async () => {
    const send = async (acceptRefusals: boolean, events: number) => {
      const destination = await strict();
      destination.overrule(() => ({ status: 403, body: 'blocked' }));
      const { deliver } = delivering(destination.url, { acceptRefusals });
      return deliver(toBatch(numbers(events).map((number) => targetEvent(number))), open);
    };
    await expect(send(false, 1)).rejects.toThrow('blocked');
    expect(await send(true, 1)).toEqual([{ kind: 'refused', detail: expect.stringContaining('blocked') }]);
    await expect(send(true, 2)).rejects.toThrow('blocked');
  });

  it('pauses at a key that is refused for every event, however few of them a request has', async () => {
    const sendTo = async (loadAccepted?: () => Promise<Batch[]>) => {
      const destination = await strict();
      destination.overrule(() => ({ status: 403, body: 'wrong project' }));
      const options = { acceptRefusals: true, ...(loadAccepted ? { loadAccepted } : {}) };
      const { deliver } = delivering(destination.url, options);
      return (number: number) => deliver(toBatch([targetEvent(number)]), open);
    };
    const send = await sendTo();
    expect(await send(1)).toMatchObject([{ kind: 'refused' }]);
    await expect(send(2)).rejects.toBeInstanceOf(PausedError);
    await expect(send(3)).rejects.toThrow('wrong project');
    // One that was accepted before is refused as well, so none of them is a reject.
    const sendLater = await sendTo(async () => [copyEvent(toBatch([targetEvent(7)]), 0)]);
    await expect(sendLater(1)).rejects.toBeInstanceOf(PausedError);
    const sendBlind = await sendTo(() => Promise.reject(new Error('staging is away')));
    await expect(sendBlind(1)).rejects.toBeInstanceOf(PausedError);
  });

  it('sends no event of a turn before one about the same person in front of it that the service fails on', async () => {
    const failing = async (more: (number: number) => Record<string, unknown>) => {
      const destination = await strict();
      destination.overrule((events, text) =>
        isPoisoned(events, text) ? { status: 500, body: 'boom' } : undefined,
      );
      const { deliver } = delivering(destination.url, { retry: { ...QUICK, attempts: 3 } });
      const condition = { scope: 'turn 1', assert: async () => () => {} };
      const events = numbers(10, POISON).map((number) => targetEvent(number, more(number)));
      return { destination, deliveries: deliver(toBatch(events), open, condition) };
    };
    const ofOne = await failing(() => ({ distinct_id: 'ann' }));
    await expect(ofOne.deliveries).rejects.toBeInstanceOf(UnavailableError);
    expect(ofOne.destination.events().size).toBe(0);
    // An event about somebody else may arrive before it, and tells that it is not an outage.
    const ofSeveral = await failing((number) => ({ distinct_id: number < POISON + 2 ? 'ann' : 'bob' }));
    const [first, ...others] = await ofSeveral.deliveries;
    expect(first).toMatchObject({ kind: 'refused', mayBeStored: true });
    expect(others.every(({ kind }) => kind === 'accepted')).toBe(true);
  });

  it('tells an event that always fails from an outage by one that was accepted before the process began', async () => {
    const destination = await strict();
    const before = targetEvent(1);
    let isDown = true;
    destination.overrule((events, text) =>
      isDown || isPoisoned(events, text) ? { status: 500, body: 'boom' } : undefined,
    );
    const { deliver } = delivering(destination.url, {
      retry: { ...QUICK, attempts: 3 },
      loadAccepted: async () => [copyEvent(toBatch([before]), 0)],
    });
    const condition = { scope: 'turn 1', assert: async () => () => {} };
    const send = () => deliver(toBatch([targetEvent(POISON)]), open, condition);
    for (let round = 0; round < 20; round += 1) await expect(send()).rejects.toBeInstanceOf(UnavailableError);
    isDown = false;
    expect(await send()).toEqual([
      { kind: 'refused', detail: expect.stringContaining('boom'), mayBeStored: true },
    ]);
  });

  it('names an event that always fails in a pause where nothing can be asked, and gives it up where somebody has looked', async () => {
    for (const acceptRefusals of [false, true]) {
      const destination = await strict();
      destination.overrule(() => ({ status: 500, body: 'boom' }));
      const { deliver } = delivering(destination.url, {
        retry: { ...QUICK, attempts: 2 },
        acceptRefusals,
      });
      const send = (number: number) =>
        deliver(toBatch([targetEvent(number)]), open, { scope: 'turn 1', assert: async () => () => {} });
      for (let round = 1; round < 6; round += 1)
        await expect(send(7)).rejects.toBeInstanceOf(UnavailableError);
      if (acceptRefusals) expect(await send(7)).toMatchObject([{ kind: 'refused', mayBeStored: true }]);
      else await expect(send(7)).rejects.toThrow(`(uuid ${targetEvent(7).uuid})`);
      // Two of them are an outage.
      for (let round = 0; round < 20; round += 1)
        await expect(send(8)).rejects.toBeInstanceOf(UnavailableError);
    }
  });

  it('takes one stray 403, 404 or 422 for what it is', async () => {
    for (const status of [403, 404, 422]) {
      for (const before of [0, 1]) {
        const destination = await strict();
        const { deliver } = delivering(destination.url);
        for (const number of numbers(before)) await deliver(toBatch([targetEvent(number)]), open);
        let requests = 0;
        destination.overrule(() => {
          requests += 1;
          return requests <= 2 ? { status, body: 'deploying' } : undefined;
        });
        const deliveries = await deliver(toBatch(numbers(9, 5).map((each) => targetEvent(each))), open);
        expect(deliveries.every(({ kind }) => kind === 'accepted')).toBe(true);
      }
    }
  });

  it('continues refusing where it is told to', async () => {
    const destination = await strict();
    destination.overrule({ status: 400, body: '{"detail":"Request blocked"}' });
    const { deliver } = delivering(destination.url, { acceptRefusals: true });
    const deliveries = await deliver(toBatch(numbers(25).map((each) => targetEvent(each))), open);
    expect(deliveries).toEqual(numbers(25).map(() => ({ kind: 'refused', detail: 'Request blocked' })));
  });

  it('believes no single 400 to an event alone', async () => {
    let number = 0;
    const url = await answering((request, response) => {
      request.resume().on('end', () => {
        number += 1;
        response.writeHead(number < 3 ? 400 : 200).end(TAKEN);
      });
    });
    expect(await delivering(url).deliver(toBatch([targetEvent(1)]), open)).toEqual([{ kind: 'accepted' }]);
  });

  it.each([
    ['a wrong key', 401],
    ['a forbidden project', 403],
  ])('pauses on %s', async (_name, status) => {
    const url = await answering((request, response) => {
      request.resume().on('end', () => response.writeHead(status).end(`no entry for ${API_KEY}`));
    });
    const error = await delivering(url)
      .deliver(toBatch([targetEvent(1)]), open)
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PausedError);
    expect(String(error)).toContain('no entry for ***');
    expect(String(error)).not.toContain(API_KEY);
  });

  describe('of a key that the destination has accepted', () => {
    const refusing = async (status: number, times: number) => {
      const destination = await strict();
      const { deliver } = delivering(destination.url);
      await deliver(toBatch([targetEvent(1)]), open);
      let answered = 0;
      destination.overrule(() => {
        answered += 1;
        return answered <= times ? { status, body: 'a proxy starts' } : undefined;
      });
      const deliveries = deliver(toBatch([2, 3].map((each) => targetEvent(each))), open);
      return { deliveries, countAnswered: () => answered };
    };

    it.each([401, 403])('asks again where %i is answered for a moment', async (status) => {
      const { deliveries } = await refusing(status, 2);
      expect(await deliveries).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }]);
    });

    it('asks again where what it asks because of a 403 is answered 401 for a moment', async () => {
      const destination = await strict();
      const { deliver } = delivering(destination.url);
      await deliver(toBatch([targetEvent(1)]), open);
      const statuses = [403, 401];
      destination.overrule(() => {
        const status = statuses.shift();
        return status === undefined ? undefined : { status, body: 'a proxy starts' };
      });
      expect(await deliver(toBatch([targetEvent(2)]), open)).toEqual([{ kind: 'accepted' }]);
    });

    it('pauses where 401 is answered each time', async () => {
      const { deliveries, countAnswered } = await refusing(401, Number.POSITIVE_INFINITY);
      await expect(deliveries).rejects.toThrow(PausedError);
      expect(countAnswered()).toBe(5);
    });

    it('asks nothing again where its quota is used up', async () => {
      const { deliveries, countAnswered } = await refusing(402, Number.POSITIVE_INFINITY);
      await expect(deliveries).rejects.toThrow(PausedError);
      expect(countAnswered()).toBe(1);
    });
  });

  it('asks nothing again where the first answer of all is 401', async () => {
    const destination = await strict();
    destination.overrule({ status: 401, body: '' });
    await expect(delivering(destination.url).deliver(toBatch([targetEvent(1)]), open)).rejects.toThrow(
      PausedError,
    );
    expect(destination.requests).toHaveLength(1);
  });

  it('goes on where the clock of the machine is set back', async () => {
    const destination = await strict();
    const { deliver } = delivering(destination.url, { limits: { requestsInFlight: 1 } });
    await deliver(toBatch([targetEvent(1)]), open);
    const aDayAgo = Date.now() - 24 * 3_600_000;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => aDayAgo);
    try {
      await Promise.all([2, 3].map((number) => deliver(toBatch([targetEvent(number)]), open)));
    } finally {
      clock.mockRestore();
    }
    expect(destination.events().size).toBe(3);
  });

  it('follows no redirect', async () => {
    const url = await answering((_request, response) => {
      response.writeHead(307, { location: 'http://elsewhere.example/batch/' }).end();
    });
    await expect(delivering(url).deliver(toBatch([targetEvent(1)]), open)).rejects.toThrow(
      /redirects to http:\/\/elsewhere\.example/,
    );
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)(
    'reads an answer that a proxy packed as %s though nobody asked for it',
    async (encoding, pack) => {
      const asked = new Set<string | undefined>();
      const url = await answering((request, response) => {
        asked.add(request.headers['accept-encoding'] as string | undefined);
        response.writeHead(200, { 'content-encoding': encoding }).end(pack(TAKEN));
      });
      expect(await delivering(url).deliver(toBatch([targetEvent(1)]), open)).toEqual([{ kind: 'accepted' }]);
      expect([...asked]).toEqual(['identity']);
    },
  );

  it('believes no answer that says it is packed and is not, or is a bomb', async () => {
    const bodies = [Buffer.from('packed?'), gzipSync(`{"status":1,"pad":"${' '.repeat(70_000)}"}`)];
    for (const body of bodies) {
      const url = await answering((_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(body);
      });
      const { deliver } = delivering(url, { retry: { ...QUICK, attempts: 3 } });
      await expect(deliver(toBatch([targetEvent(1)]), open)).rejects.toThrow(PausedError);
    }
  });

  it('believes no answer whose first 64 KiB alone are a yes', async () => {
    const longest = TAKEN.padEnd(64 * 1024);
    const url = await answering((_request, response) => void response.end(`${longest}{"status":0}`));
    const { deliver } = delivering(url, { retry: { ...QUICK, attempts: 3 } });
    await expect(deliver(toBatch([targetEvent(1)]), open)).rejects.toThrow(PausedError);

    const whole = await answering((_request, response) => void response.end(longest));
    expect(await delivering(whole).deliver(toBatch([targetEvent(1)]), open)).toEqual([{ kind: 'accepted' }]);
  });

  it.each([
    ['never answers', (_request, _response, clock) => clock.pass(TIMEOUTS.totalMs)],
    [
      'trickles its answer',
      (_request, response, clock) => {
        response.write(' ', () => clock.pass(TIMEOUTS.totalMs));
      },
    ],
    ['resets the connection', (request) => void request.socket.resetAndDestroy()],
    ['answers 500', (_request, response) => void response.writeHead(500).end('boom')],
  ] satisfies [string, (...call: [...Parameters<RequestListener>, ManualClock]) => void][])(
    'gives a destination that %s up after its attempts',
    async (_name, listener) => {
      const clock = createManualClock();
      let requests = 0;
      const url = await answering((request, response) => {
        requests += 1;
        listener(request, response, clock);
      });
      const { deliver, lines } = delivering(url, { clock, retry: { ...QUICK, attempts: 3 } });
      const error = await deliver(toBatch([targetEvent(1)]), open).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UnavailableError);
      expect(String(error)).toContain('in 3 attempts; the last failed with');
      expect(requests).toBe(3);
      expect(lines.join()).not.toContain(API_KEY);
    },
  );

  it('pauses when every attempt meets a page instead of an answer, and names what was said', async () => {
    let requests = 0;
    const url = await answering((_request, response) => {
      requests += 1;
      response.end('<html>Welcome</html>');
    });
    const { deliver } = delivering(url, { retry: { ...QUICK, attempts: 3 } });
    const error = await deliver(toBatch([targetEvent(1)]), open).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(PausedError);
    expect(String(error)).toMatch(/HTTP 200.*"Welcome".*check destination\.url.*then resume/);
    expect(requests).toBe(3);
  });

  it.each(['', '{"success":false}', '{"status":1'])(
    'pauses at the third answer that proves nothing: %j',
    async (body) => {
      let requests = 0;
      const url = await answering((request, response) => {
        request.resume().on('end', () => {
          requests += 1;
          response.end(body);
        });
      });
      const error = await delivering(url)
        .deliver(toBatch([targetEvent(1)]), open)
        .catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(PausedError);
      expect(String(error)).toMatch(/does not say that it took the events.*then resume; nothing is lost/);
      expect(requests).toBe(3);
    },
  );

  it('continues after two answers that proved nothing', async () => {
    let requests = 0;
    const url = await answering((request, response) => {
      request.resume().on('end', () => {
        requests += 1;
        response.end(requests < 3 ? '' : TAKEN);
      });
    });
    expect(await delivering(url).deliver(toBatch([targetEvent(1)]), open)).toEqual([{ kind: 'accepted' }]);
  });

  it.each([
    ['continues after a page shorter than its attempts', 2, 0, undefined],
    ['leaves pages among failures to the queue', 2, 500, UnavailableError],
  ])('%s', async (_name, pages, after, expected) => {
    let requests = 0;
    const url = await answering((_request, response) => {
      requests += 1;
      if (requests <= pages) response.end('<html>Back in a moment</html>');
      else response.writeHead(after || 200).end(TAKEN);
    });
    const { deliver } = delivering(url, { retry: { ...QUICK, attempts: 3 } });
    const outcome = await deliver(toBatch([targetEvent(1)]), open).catch((reason: unknown) => reason);
    if (expected) expect(outcome).toBeInstanceOf(expected);
    else expect(outcome).toEqual([{ kind: 'accepted' }]);
  });

  describe('where one event always gets an answer that asks to come back', () => {
    const answeringTo = async (status: number) => {
      const url = await answering((request, response) => {
        const pieces: Buffer[] = [];
        request.on('data', (piece: Buffer) => void pieces.push(piece));
        request.on('end', () => {
          const isBad = /"number":13[,}]/.test(String(gunzipSync(Buffer.concat(pieces))));
          response.writeHead(isBad ? status : 200, isBad ? { 'retry-after': '30' } : {}).end(TAKEN);
        });
      });
      const budget = { ...createUnlimitedBudget(), slowDown: async () => {} };
      return delivering(url, { budget, retry: { ...QUICK, attempts: 3 } });
    };
    const batch = () => toBatch(numbers(20).map((each) => targetEvent(each)));

    it('keeps it as refused after all attempts at it, while others are accepted', async () => {
      const { deliver } = await answeringTo(503);
      const deliveries = await deliver(batch(), open);
      expect(deliveries.filter(({ kind }) => kind === 'accepted')).toHaveLength(19);
      expect(deliveries.filter(({ kind }) => kind === 'refused')).toHaveLength(1);
    });

    it('waits for a rate limit, which says nothing of the event', async () => {
      const { deliver } = await answeringTo(429);
      await expect(deliver(batch(), open)).rejects.toThrow(UnavailableError);
    });
  });

  it('hands a Retry-After on to every sender and to the queue', async () => {
    const url = await answering((request, response) => {
      request.resume().on('end', () => response.writeHead(429, { 'retry-after': '120' }).end());
    });
    const slowed: number[] = [];
    const budget = { ...createUnlimitedBudget(), slowDown: async (ms: number) => void slowed.push(ms) };
    const { deliver } = delivering(url, { budget, retry: { ...QUICK, attempts: 2 } });
    await expect(deliver(toBatch([targetEvent(1)]), open)).rejects.toMatchObject({
      retry: { afterMs: 120_000 },
    });
    expect(slowed).toEqual([120_000, 120_000]);
  });

  it.each([
    ['in a request', () => {}, {}],
    [
      'between attempts',
      (_request, response) => void response.writeHead(500).end(),
      { baseMs: 1e6, maxMs: 1e6 },
    ],
    [
      'in a slow-down',
      (_request, response) => void response.writeHead(429, { 'retry-after': '1000' }).end(),
      {},
    ],
  ] satisfies [string, RequestListener, object][])(
    'ends at once when aborted %s',
    async (_name, listener, retry) => {
      let arrived = () => {};
      const arrival = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const url = await answering((request, response) => {
        listener(request, response);
        arrived();
      });
      const { deliver } = delivering(url, {
        timeouts: {},
        random: () => 0.999,
        retry: { ...QUICK, ...retry },
      });
      const controller = new AbortController();
      const reason = new Error('Ctrl-C');
      const first = deliver(toBatch([targetEvent(1)]), controller.signal);
      const second = deliver(toBatch([targetEvent(2)]), controller.signal);
      await arrival;
      controller.abort(reason);
      await expect(first).rejects.toBe(reason);
      await expect(second).rejects.toBe(reason);
    },
  );

  it('never has more requests under way than allowed', async () => {
    let underWay = 0;
    let most = 0;
    let held: ServerResponse[] = [];
    // Answers only once three wait: with less than three under way at once this never ends.
    const url = await answering((request, response) => {
      underWay += 1;
      most = Math.max(most, underWay);
      request.resume().on('end', () => {
        held.push(response);
        if (held.length < 3) return;
        for (const each of held) {
          underWay -= 1;
          each.end('{"status":1}');
        }
        held = [];
      });
    });
    const { deliver } = delivering(url, { limits: { requestsInFlight: 3 } });
    await Promise.all(numbers(12).map((number) => deliver(toBatch([targetEvent(number)]), open)));
    expect(most).toBe(3);
  });

  it('asks the budget for every attempt, and for no more than a permit may hold', async () => {
    const url = await answering((request, response) => {
      request.resume().on('end', () => response.writeHead(asked.length === 1 ? 500 : 200).end(TAKEN));
    });
    const asked: number[] = [];
    let settled = 0;
    const budget = {
      ...createUnlimitedBudget(),
      eventsPerPermit: 4,
      take: async (events: number) => {
        asked.push(events);
        return {
          settle: async () => {
            settled += 1;
          },
        };
      },
    };
    const events = numbers(10).map((number) => targetEvent(number));
    expect(await delivering(url, { budget }).deliver(toBatch(events), open)).toHaveLength(10);
    expect(asked).toEqual([4, 4, 4, 2]);
    expect(settled).toBe(4);
  });

  it('ends what is under way when closed', async () => {
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const url = await answering(() => arrived());
    const made = delivering(url, { timeouts: {} });
    const delivery = made.deliver(toBatch([targetEvent(1)]), open).catch((error: unknown) => error);
    await arrival;
    await made.close();
    expect(await delivery).toBeInstanceOf(UnavailableError);
    await expect(made.deliver(toBatch([targetEvent(1)]), open)).rejects.toThrow(/closed/);
  });

  it.each([
    ['ftp://example.com', API_KEY],
    ['nonsense', API_KEY],
    ['https://user:secret@example.com', API_KEY],
    ['https://example.com/?token=secret', API_KEY],
    ['https://example.com', ''],
    ['https://example.com', 'k'.repeat(600)],
  ])('refuses the setting %s', (url, apiKey) => {
    const make = () => delivering(url, { destination: { url, apiKey } });
    expect(make).toThrow(ConfigError);
    expect(make).not.toThrow(/secret|kkk/);
  });
});

describe('deliver to a destination that fails at random', () => {
  it.each([1, 2])('ends up with exactly the valid events (seed %i)', async (seed) => {
    const clock = createManualClock();
    const destination = await strict({
      maxBodyBytes: 40_000,
      onSilence: () => clock.pass(TIMEOUTS.totalMs),
      faults: {
        seed,
        badRequest: 0.03,
        tooLarge: 0.03,
        tooMany: 0.01,
        serverError: 0.08,
        hang: 0.02,
        slow: 0.02,
        reset: 0.08,
        page: 0.03,
      },
    });
    const { deliver } = delivering(destination.url, {
      // A second for each Retry-After would be most of the time.
      budget: { ...createUnlimitedBudget(), slowDown: async () => {} },
      clock,
    });
    const random = createRandom(seed);
    const events = numbers(3000).map((number) => {
      const draw = random();
      if (draw < 0.002) return { ...targetEvent(number), timestamp: 'yesterday' };
      if (draw < 0.004) return { ...targetEvent(number), offset: 5 };
      if (draw < 0.005) return targetEvent(number, { filler: 'x'.repeat(50_000) });
      return targetEvent(number);
    });
    const batches = numbers(10).map((index) => events.slice(index * 300, (index + 1) * 300));
    const deliveries = (await Promise.all(batches.map((each) => deliver(toBatch(each), open)))).flat();

    const isValid = (event: (typeof events)[number]) =>
      event.timestamp !== 'yesterday' && !('offset' in event) && !('filler' in event.properties);
    expect(deliveries.map((delivery) => delivery.kind)).toEqual(
      events.map((event) => (isValid(event) ? 'accepted' : 'refused')),
    );
    expect([...destination.events().keys()].sort()).toEqual(
      events
        .filter(isValid)
        .map((event) => event.uuid)
        .sort(),
    );
    expect(destination.conflicts).toEqual([]);
  });
});
