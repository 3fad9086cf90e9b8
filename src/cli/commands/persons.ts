import { existsSync } from 'node:fs';
import { loadManifest } from '../../../config/manifest/load-manifest.ts';
import { ConfigError } from '../../lib/errors.ts';
import { findHeld, type HeldSelection, sendHeldPersons } from '../../migrations/persons/send-held.ts';
import { commandLine, quoted } from '../command-line.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode, RUN_EXIT } from '../exit-code.ts';
import { orStopped, showRun } from '../show-run.ts';
import { openStagingOf } from '../storage.ts';
import { withRuntime } from '../with-runtime.ts';
import type { RunCommandOptions } from './run.ts';

/** `backhaul persons send <what...>`: names of migrations, a manifest, or the address of a destination. */
export async function send(
  context: CommandContext,
  what: readonly string[],
  { produceOnly }: RunCommandOptions,
): Promise<ExitCode> {
  const { terminal } = context;
  const again = commandLine(context, `persons send ${what.map(quoted).join(' ')}`);
  const selection = await readSelection(context, what);
  const held = await orStopped(again, async () => findHeld(await openStagingOf(context), selection));
  if (!held) {
    terminal.info(`No migration holds persons for ${what.join(' ')} (any more): there is nothing to send.`);
    return EXIT.done;
  }
  if (held.without.length > 0)
    terminal.info(
      `${held.without.join(', ')} had nothing to send: nothing there says anything of persons or groups.`,
    );
  const sent = withRuntime(context, held.loaded.manifest.destination === undefined, async (runtime) => {
    const shown = {
      again,
      produceOnly,
      onBegin: (name: string) =>
        terminal.info(`Sending the persons of ${held.names.join(', ')} as migration ${name}.`),
    };
    const { kind } = await showRun(context, shown, (options) => sendHeldPersons(runtime, held, options));
    return RUN_EXIT[kind];
  });
  return orStopped(again, () => sent);
}

async function readSelection({ env }: CommandContext, what: readonly string[]): Promise<HeldSelection> {
  const [only = '', ...others] = what;
  if (others.length > 0) return { kind: 'names', names: [...new Set(what)] };
  if (only === 'bundled' || /^https?:/.test(only)) {
    if (only !== 'bundled' && !URL.canParse(only)) throw new ConfigError(`${only} is not an address`);
    return { kind: 'address', address: only };
  }
  if (!/\.(ya?ml|json)$/.test(only) || !existsSync(only)) return { kind: 'names', names: [only] };
  return { kind: 'manifest', manifest: (await loadManifest(only, { env })).manifest };
}
