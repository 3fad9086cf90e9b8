import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { findProjectRoot } from '../embedded/project-root.ts';
import type { RehearseCommandOptions } from './commands/compare/rehearse.ts';
import type { VerifyCommandOptions } from './commands/compare/verify.ts';
import { SCRIPTS } from './completion/scripts.ts';
import type { CommandContext } from './context.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { addHelpTexts } from './help-texts.ts';
import { addManageCommands } from './manage-commands.ts';
import { renderLogLine } from './render/render-log-line.ts';
import { addScheduleCommands } from './schedule-commands.ts';
import { addStateCommands } from './state-commands.ts';
import { createTerminal } from './terminal.ts';

/** Every command of the command line. Commands are imported when called, so that `--help` stays quick. */
export function buildProgram(finish: (code: ExitCode) => void): Command {
  const program = new Command('backhaul')
    .description(
      'Moves product-analytics history into a service that speaks one contract; resumable anywhere.',
    )
    .version(version(), '-V, --version')
    .option('--json', 'print data as JSON documents on stdout')
    .configureHelp({ sortSubcommands: false })
    .showHelpAfterError('(run "backhaul --help" to see every command)')
    .exitOverride();

  /** Makes the action of a command, which is passed the context and returns its exit code. */
  const act =
    <A extends unknown[]>(command: (context: CommandContext, ...args: A) => Promise<ExitCode>) =>
    async (...args: unknown[]) => {
      const json = program.opts()['json'] === true || (args.at(-2) as { json?: boolean })?.json === true;
      const terminal = createTerminal({ json, env: process.env });
      // With the schema of settings come a hundred modules, which `--help` does not need.
      const { loadSettings } = await import('../../config/load-settings.ts');
      const settings = loadSettings(process.env);
      const openLog = async () => {
        const { createLogger } = await import('../lib/logger.ts');
        // A log line must not be glued to the status line of a terminal.
        return process.stderr.isTTY
          ? createLogger(settings.logLevel, { write: (line) => terminal.info(renderLogLine(line)) })
          : createLogger(settings.logLevel);
      };
      finish(await command({ terminal, settings, env: process.env, openLog }, ...(args.slice(0, -1) as A)));
    };
  const command = (name: string, description: string) =>
    program.command(name).description(description).addOption(new Option('--json').hideHelp());

  command('init <data>', 'look at an export (a file, folder or s3://…) and write a manifest for it')
    .option('--out <file>', 'where to write it (default: <name>.yaml in this folder)')
    .action(
      act(async (context, data: string, options: { out?: string }) =>
        (await import('./commands/init.ts')).init(context, data, options),
      ),
    );
  command('plan <manifest>', 'read a sample and show what a run would do; sends nothing')
    .option('--full', 'map every staged record without sending, so that conflicts are known before')
    .option('--sample <records>', 'records read of each file', '500')
    .option('--html <file>', 'also write the plan as a page, with plots')
    .action(
      act(async (context, manifest: string, options: { full?: boolean; sample: string; html?: string }) =>
        (await import('./commands/plan.ts')).plan(context, manifest, options),
      ),
    );
  command('rehearse <manifest>', 'run a manifest into a bundled API of its own, and compare what arrived')
    .option('--sample <records>', 'only so many records of each file')
    .option('--html <file>', 'where to write the comparison (default: in the folder of the rehearsal)')
    .action(
      act(async (context, manifest: string, options: RehearseCommandOptions) =>
        (await import('./commands/compare/rehearse.ts')).rehearse(context, manifest, options),
      ),
    );
  command('run <manifest>', 'run a migration, or continue the one of that name')
    .option('--produce-only', 'import nothing in this process; "backhaul worker" processes do')
    .option('--top-up', 'take files that are new in the source into the migration of that name')
    .action(
      act(async (context, manifest: string, options: { produceOnly?: boolean; topUp?: boolean }) =>
        (await import('./commands/run.ts')).run(context, manifest, options),
      ),
    );
  command('resume <name>', 'continue a stopped, paused or cancelled migration')
    .option('--produce-only', 'import nothing in this process; "backhaul worker" processes do')
    .option('--accept-refusals', 'go on rejecting, however many events in a row the destination refuses')
    .action(
      act(async (context, name: string, options: { produceOnly?: boolean; acceptRefusals?: boolean }) =>
        (await import('./commands/run.ts')).resume(context, name, options),
      ),
    );
  command('status [name]', 'what a migration is doing; all of them without a name')
    .option('--watch', 'keep watching until it ends')
    .action(
      act(async (context, name: string | undefined, options: { watch?: boolean }) =>
        (await import('./commands/status.ts')).status(context, name, options),
      ),
    );
  command('pause <name>', 'stop a migration at the next batch, to be resumed later').action(
    act(async (context, name: string) => (await import('./commands/control.ts')).pause(context, name)),
  );
  command(
    'cancel <name>',
    'stop a migration that is not wanted any more; what was delivered stays, and only resume continues it',
  ).action(
    act(async (context, name: string) => (await import('./commands/control.ts')).cancel(context, name)),
  );
  command('rm <name>', 'remove the parts, rejects and identity facts of a migration; its report stays')
    .option('--keep-rejects', 'keep the rejected records, to be shown and replayed')
    .option(
      '--forget',
      'drop the report too, and what is known of the persons of that destination: later imports there merge nothing',
    )
    .action(
      act(async (context, name: string, options: { keepRejects?: boolean; forget?: boolean }) =>
        (await import('./commands/rm.ts')).rm(context, name, options),
      ),
    );
  command('report <name>', 'the counts of a migration, by file, day, event and reason').action(
    act(async (context, name: string) => (await import('./commands/report.ts')).report(context, name)),
  );
  command('verify <name>', 'compare the report with what the destination holds, or the vendor has counted')
    .option('--counts <file>', 'CSV of the vendor: day,event,count and perhaps users')
    .option('--html <file>', 'also write the comparison as a page')
    .option('--project <id>', 'id of the project at the destination (default: found by its key)')
    .option('--api-url <url>', 'address of the private API of the destination, where it has one of its own')
    .action(
      act(async (context, name: string, options: VerifyCommandOptions) =>
        (await import('./commands/compare/verify.ts')).verify(context, name, options),
      ),
    );

  const rejects = program.command('rejects').description('records that could not be sent, and why');
  const rejectsCommand = (name: string, description: string) =>
    rejects.command(name).description(description).addOption(new Option('--json').hideHelp());
  rejectsCommand('ls <name>', 'rejects by reason').action(
    act(async (context, name: string) => (await import('./commands/rejects.ts')).list(context, name)),
  );
  rejectsCommand('show <name>', 'the rejected records themselves, as JSON lines')
    .option('--reason <reason>', 'only those of one reason')
    .option('--limit <count>', 'at most so many', '20')
    .action(
      act(async (context, name: string, options: { reason?: string; limit: string }) =>
        (await import('./commands/rejects.ts')).show(context, name, options),
      ),
    );
  rejectsCommand(
    'replay <name>',
    'send rejected records again, after the manifest or the destination was corrected',
  )
    .option('--manifest <file>', 'the corrected manifest (default: that of the last run)')
    .option('--reason <reason>', 'only those of one reason')
    .option('--again', 'also what a replay of the migration has sent already')
    .action(
      act(async (context, name: string, options: { manifest?: string; reason?: string; again?: boolean }) =>
        (await import('./commands/rejects.ts')).replay(context, name, options),
      ),
    );

  const persons = program.command('persons').description('persons that manifests hold back (persons: hold)');
  persons
    .command('send <what...>')
    .description(
      "send the persons of held migrations together: those named, or all of a manifest's destination, or of an address",
    )
    .addOption(new Option('--json').hideHelp())
    .option('--produce-only', 'send nothing in this process; "backhaul worker" processes do')
    .action(
      act(async (context, what: string[], options: { produceOnly?: boolean }) =>
        (await import('./commands/persons.ts')).send(context, what, options),
      ),
    );

  addScheduleCommands(program, act);
  addStateCommands(program, act, version());
  command('worker', 'import parts of any migration, and run schedules, until stopped')
    .option('--concurrency <parts>', 'parts at once in this process')
    .action(
      act(async (context, options: { concurrency?: string }) =>
        (await import('./commands/worker.ts')).worker(context, options),
      ),
    );
  command('serve', 'run the bundled API, the queue dashboard and schedules until stopped').action(
    act(async (context) => (await import('./commands/serve.ts')).serve(context)),
  );
  addManageCommands(program, act);
  command('doctor [manifest]', 'check settings, Redis, staging, sources and destination')
    .option('--send-probe', 'send the destination one event, and show its answer and whether it counts')
    .action(
      act(async (context, manifest: string | undefined, options: { sendProbe?: boolean }) =>
        (await import('./commands/doctor.ts')).doctor(context, manifest, options),
      ),
    );
  command('demo', 'generate an export and move it into the bundled API, end to end')
    .option('--keep', 'leave the API and its dashboards up and print the links')
    .option('--events <count>', 'how many events to generate', '50000')
    .action(
      act(async (context, options: { keep?: boolean; events: string }) =>
        (await import('./commands/demo.ts')).demo(context, options),
      ),
    );
  program
    .command('completion')
    .description('print a script that completes commands, options, files and names of migrations')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .action((shell: string) => {
      process.stdout.write(SCRIPTS[shell] ?? '');
      finish(EXIT.done);
    });
  addHelpTexts(program);
  return program;
}

function version(): string {
  const path = join(findProjectRoot(), 'package.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
