import { expect, test } from 'vitest';
import { createAdmission } from '../../../src/server/capture/admission.ts';

const post = (body: string) => ({
  req: { raw: new Request('http://x/', { method: 'POST', body }) },
  env: undefined,
});
const busy = { status: 429, envelope: { code: 'throttled' } };

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), opened };
}

test('hands the whole body on', async () => {
  const admission = createAdmission({ heldBytes: 5, atWork: 1 });
  expect(await admission.admit(post('12345'), async (body) => body.toString())).toBe('12345');
});

test('has as many requests at work as may be, and the others in order of arrival', async () => {
  const admission = createAdmission({ heldBytes: 100, atWork: 2 });
  const gates = [gate(), gate(), gate(), gate()];
  const begun: number[] = [];
  const taken = gates.map(({ opened }, at) =>
    admission.admit(post(String(at)), async () => {
      begun.push(at);
      await opened;
    }),
  );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  while (begun.length < 2) await settle();
  await settle();
  expect(begun).toEqual([0, 1]);
  gates[1]?.open();
  await taken[1];
  while (begun.length < 3) await settle();
  expect(begun).toEqual([0, 1, 2]);
  for (const { open } of gates) open();
  await Promise.all(taken);
  expect(begun).toEqual([0, 1, 2, 3]);
});

test('turns a body away that would pass what all may hold, and takes it when there is room again', async () => {
  const admission = createAdmission({ heldBytes: 10, atWork: 1 });
  const { open, opened } = gate();
  const first = admission.admit(post('123456'), () => opened);
  await expect(admission.admit(post('12345'), async () => 'no')).rejects.toMatchObject(busy);
  const second = admission.admit(post('1234'), async () => 'yes');
  open();
  await first;
  expect(await second).toBe('yes');
  expect(await admission.admit(post('1234567890'), async () => 'all')).toBe('all');
});

test('gives the place and the room back when the work fails', async () => {
  const admission = createAdmission({ heldBytes: 5, atWork: 1 });
  for (let round = 0; round < 3; round++) {
    const failing = admission.admit(post('12345'), () => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
  }
  expect(await admission.admit(post('12345'), async () => 'well')).toBe('well');
});

test('lets small requests to work beside large ones, as many as may be', async () => {
  const admission = createAdmission({ heldBytes: 100, atWork: 1, smallAtWork: 2 });
  const { open, opened } = gate();
  let begun = 0;
  const send = (body: string, work: () => Promise<void>) =>
    admission.admitDecoded(post(body), {
      decode: async (bytes) => bytes.toString(),
      isSmall: (decoded) => decoded === 'small',
      work,
    });
  const small = () =>
    send('small', async () => {
      begun += 1;
      await opened;
    });
  const taken = [small(), small(), small()];
  await send('large', async () => {});
  expect(begun).toBe(2);
  open();
  await Promise.all(taken);
  expect(begun).toBe(3);
});
