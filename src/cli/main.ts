import { CommanderError } from 'commander';
import { BackhaulError, getMessage } from '../lib/errors.ts';
import { EXIT, type ExitCode, toExitCode } from './exit-code.ts';
import { buildProgram } from './program.ts';

/** argv → command → exit code. */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  try {
    await buildProgram((result) => {
      code = result;
    }).parseAsync(argv as string[]);
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    if (error instanceof BackhaulError) process.stderr.write(`${error.message}\n`);
    else
      process.stderr.write(
        `This is a bug in Backhaul; please report it with the lines below. What was saved stays, and the same command continues from there: ${getMessage(error)}\n${(error as Error)?.stack ?? ''}\n`,
      );
    return toExitCode(error);
  }
}
