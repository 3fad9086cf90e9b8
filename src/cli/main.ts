import { CommanderError } from 'commander';
import { BackhaulError, escapeControls, getMessage } from '../lib/errors.ts';
import { explainOpenFiles } from '../lib/open-files.ts';
import { EXIT, type ExitCode, toExitCode } from './exit-code.ts';
import { buildProgram } from './program.ts';
import { OutputEndedError } from './terminal.ts';

/** argv → command → exit code. */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  try {
    if (argv[2] === '__complete') {
      const { complete } = await import('./commands/complete.ts');
      return await complete(
        buildProgram(() => {}),
        argv.slice(3),
      );
    }
    await buildProgram((result) => {
      code = result;
    }).parseAsync(argv as string[]);
    return code;
  } catch (error) {
    if (error instanceof OutputEndedError) return code; // the launcher tells a closed pipe from a full disk
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const noFiles = explainOpenFiles(error);
    if (error instanceof BackhaulError) process.stderr.write(`${escapeControls(error.message)}\n`);
    else if (noFiles !== undefined) {
      process.stderr.write(
        `Backhaul cannot work: ${noFiles}, and run the same command again; what was saved stays.\n`,
      );
      return EXIT.usage;
    } else
      process.stderr.write(
        `This is a bug in Backhaul; please report it with the lines below. What was saved stays, and the same command continues from there: ${escapeControls(`${getMessage(error)}\n${(error as Error)?.stack ?? ''}`)}\n`,
      );
    return toExitCode(error);
  }
}
