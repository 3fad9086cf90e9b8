import type { Staging } from '../../src/contract/staging.ts';
import type { Runtime } from '../../src/runtime/runtime.ts';

/** A call that a process sleeps at. */
export interface Step {
  readonly method: 'create' | 'get' | 'put';
  /** Part of a key below the folder of the migration. */
  readonly key: string;
  readonly when: 'before' | 'after';
}

/**
 * Passes calls on; the first call of that step sleeps until it is woken. While it sleeps its process sends Redis
 * nothing: the timer that renews its lease would take the lease back that the test lets expire.
 */
export function sleepAt({ staging, redis }: Runtime, name: string, step: Step) {
  let isAsleep = false;
  let fallAsleep = () => {};
  let wake = () => {};
  const asleep = new Promise<void>((resolve) => {
    fallAsleep = resolve;
  });
  const woken = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const isStep = (method: Step['method'], key: string) =>
    method === step.method && key.startsWith(`${name}/`) && key.includes(step.key);
  const sleep = async (when: Step['when']) => {
    if (when !== step.when) return;
    isAsleep = true;
    fallAsleep();
    await woken;
    isAsleep = false;
  };
  const sleepy: Staging = {
    ...staging,
    async create(key, body) {
      if (!isStep('create', key)) return staging.create(key, body);
      await sleep('before');
      const created = await staging.create(key, body);
      await sleep('after');
      return created;
    },
    async put(key, body) {
      if (isStep('put', key)) await sleep('before');
      return staging.put(key, body);
    },
    async get(key) {
      if (isStep('get', key)) await sleep('before');
      return staging.get(key);
    },
  };
  const sleepyRedis = new Proxy(redis, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const isCommand = name === 'eval' || name === 'hmget';
      return isCommand && isAsleep
        ? (...args: unknown[]) => woken.then(() => value.apply(target, args))
        : value.bind(target);
    },
  });
  return { staging: sleepy, redis: sleepyRedis, asleep, wake: () => wake() };
}
