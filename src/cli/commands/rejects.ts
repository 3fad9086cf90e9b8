import type { RejectLine } from '../../contract/progress.ts';
import type { Staging } from '../../contract/staging.ts';
import { ConfigError } from '../../lib/errors.ts';
import { requireMigration } from '../../migrations/life-store.ts';
import { openStaging } from '../../runtime/open-staging.ts';
import { listReceipts } from '../../state/receipts.ts';
import { readRejects } from '../../state/rejects.ts';
import type { CommandContext } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { number } from '../render/render-status.ts';

/** `backhaul rejects ls`: how many, for which reason, with one example each. */
export async function list({ settings, terminal }: CommandContext, name: string): Promise<ExitCode> {
  const reasons = new Map<string, { count: number; example: string }>();
  for await (const line of loadRejects(await openStaging(settings), name)) {
    const known = reasons.get(line.reason);
    if (known) known.count += 1;
    else reasons.set(line.reason, { count: 1, example: `${placeOf(line)}: ${line.detail}` });
  }
  const rows = [...reasons].map(([reason, { count, example }]) => ({ reason, count, example }));
  rows.sort((a, b) => b.count - a.count || a.reason.localeCompare(b.reason));
  terminal.data({ migration: name, rejects: rows }, () =>
    rows.length === 0
      ? `${name} has no rejects.`
      : rows
          .map(
            ({ reason, count, example }) =>
              `${number(count).padStart(10)}  ${reason}\n            ${example}`,
          )
          .join('\n'),
  );
  return EXIT.done;
}

/** `backhaul rejects show`: the records, as JSON lines whether or not --json is given. */
export async function show(
  { settings, terminal }: CommandContext,
  name: string,
  options: { reason?: string; limit: string },
): Promise<ExitCode> {
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1) {
    throw new ConfigError(`--limit takes a whole number above 0, not "${options.limit}"`);
  }
  let shown = 0;
  for await (const line of loadRejects(await openStaging(settings), name)) {
    if (options.reason !== undefined && line.reason !== options.reason) continue;
    if (shown === limit) {
      terminal.say(`… and more; --limit <count> shows them`);
      break;
    }
    terminal.data(line, () => JSON.stringify(line));
    shown += 1;
  }
  return EXIT.done;
}

/** Every reject of every part that has its receipt. */
export async function* loadRejects(staging: Staging, name: string): AsyncGenerator<RejectLine> {
  await requireMigration(staging, name);
  for await (const receipt of listReceipts(staging, name)) {
    for (const key of receipt.rejectSegments) yield* await readRejects(staging, key);
  }
}

const placeOf = ({ file, member, line }: RejectLine) =>
  `${file}${member ? ` → ${member}` : ''}, line ${line}`;
