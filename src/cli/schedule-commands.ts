import { type Command, Option } from 'commander';
import type { SetScheduleOptions } from './commands/schedule/change.ts';
import type { Act } from './manage-commands.ts';

/** `schedule`: migrations that are topped up again and again. */
export function addScheduleCommands(program: Command, act: Act): void {
  const parent = program
    .command('schedule')
    .description('migrations that take in what is new, again and again');
  const schedule = (usage: string, help: string) =>
    parent.command(usage).description(help).addOption(new Option('--json').hideHelp());
  const change = () => import('./commands/schedule/change.ts');
  const show = () => import('./commands/schedule/show.ts');

  schedule('set <manifest>', 'top the migration of a manifest up at the times of its schedule, or of --cron')
    .option('--cron <fields>', 'minute, hour, day, month and day of the week (default: that of the manifest)')
    .option('--timezone <zone>', 'IANA zone of these fields, such as Europe/Berlin')
    .option('--lag <minutes>', 'leave files that changed less than so long ago to the next run')
    .action(
      act(async (context, manifest: string, options: SetScheduleOptions) =>
        (await change()).set(context, manifest, options),
      ),
    );
  schedule('ls', 'all schedules: next and last run, and what is overdue')
    .alias('list')
    .action(act(async (context) => (await show()).list(context)));
  schedule('next <name>', 'when it runs next')
    .option('--count <runs>', 'so many times', '5')
    .action(
      act(async (context, name: string, options: { count: string }) =>
        (await show()).next(context, name, options),
      ),
    );
  schedule('pause <name>', 'begin no run until it is resumed').action(
    act(async (context, name: string) => (await change()).pause(context, name)),
  );
  schedule('resume <name>', 'run it again from its next time on').action(
    act(async (context, name: string) => (await change()).resume(context, name)),
  );
  schedule('rm <name>', 'remove the schedule; the migration stays').action(
    act(async (context, name: string) => (await change()).remove(context, name)),
  );
  schedule('run <name>', 'take in what is new now, in this process').action(
    act(async (context, name: string) => (await import('./commands/schedule/run.ts')).run(context, name)),
  );
  schedule('coverage <name>', 'by day: what is in, what came late, what is missing').action(
    act(async (context, name: string) => (await show()).coverage(context, name)),
  );
}
