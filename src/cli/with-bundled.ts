import type { BundledApi } from '../runtime/runtime.ts';
import type { CommandContext } from './context.ts';
import { withRuntime } from './with-runtime.ts';

/** With the API of the data folder: the one that runs there, or else one that is started for the while. */
export function withBundled<T>(context: CommandContext, act: (api: BundledApi) => Promise<T>): Promise<T> {
  return withRuntime(context, true, ({ bundled }) => {
    if (!bundled) throw new Error('the bundled API did not start');
    return act(bundled);
  });
}
