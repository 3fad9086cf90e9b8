import type { Command } from 'commander';

/** By command; the arguments behind `backhaul`. Tests parse each of them. */
export const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  init: ['init exports/amplitude', 'init s3://exports/2023 --out move.yaml'],
  plan: ['plan move.yaml', 'plan move.yaml --full --html plan.html'],
  rehearse: ['rehearse move.yaml', 'rehearse move.yaml --sample 1000'],
  run: ['run move.yaml', 'run move.yaml --top-up', 'run move.yaml --produce-only --json'],
  resume: ['resume amplitude-2023', 'resume amplitude-2023 --accept-refusals'],
  status: ['status', 'status amplitude-2023 --watch', 'status amplitude-2023 --json'],
  pause: ['pause amplitude-2023'],
  cancel: ['cancel amplitude-2023'],
  rm: ['rm amplitude-2023', 'rm amplitude-2023 --keep-rejects'],
  report: ['report amplitude-2023', 'report amplitude-2023 --json'],
  verify: [
    'verify amplitude-2023',
    'verify amplitude-2023 --html comparison.html',
    'verify amplitude-2023 --counts vendor.csv --json',
  ],
  'rejects ls': ['rejects ls amplitude-2023'],
  'rejects show': ['rejects show amplitude-2023 --reason bad_timestamp --limit 5'],
  'rejects replay': ['rejects replay amplitude-2023 --manifest corrected.yaml'],
  'persons send': ['persons send web-2022 web-2023', 'persons send move.yaml'],
  'schedule set': [
    'schedule set move.yaml',
    'schedule set move.yaml --cron "0 6 * * *" --timezone Europe/Berlin --lag 30',
  ],
  'schedule ls': ['schedule ls', 'schedule ls --json'],
  'schedule next': ['schedule next amplitude-2023 --count 10'],
  'schedule pause': ['schedule pause amplitude-2023'],
  'schedule resume': ['schedule resume amplitude-2023'],
  'schedule rm': ['schedule rm amplitude-2023'],
  'schedule run': ['schedule run amplitude-2023'],
  'schedule coverage': ['schedule coverage amplitude-2023', 'schedule coverage amplitude-2023 --json'],
  'state export': ['state export amplitude-2023 --to amplitude-2023.tar.gz'],
  'state import': ['state import amplitude-2023.tar.gz'],
  'state take-back': ['state take-back amplitude-2023'],
  worker: ['worker', 'worker --concurrency 4'],
  serve: ['serve'],
  'keys create': ['keys create --label dashboards --scope insight:read person:read --project 1'],
  'keys list': ['keys list'],
  'keys revoke': ['keys revoke 3'],
  'users add': ['users add ada@example.com --name "Ada Byron" --level admin'],
  'users list': ['users list'],
  'users remove': ['users remove ada@example.com'],
  'projects add': ['projects add Shop'],
  'projects list': ['projects list'],
  'projects rename': ['projects rename 2 Store'],
  'projects rotate-key': ['projects rotate-key 2'],
  'flags ls': ['flags ls --project 1'],
  'flags show': ['flags show new-checkout'],
  'flags test': ['flags test new-checkout --distinct-id ada --property plan=pro --group company=acme'],
  'flags load': ['flags load flags.json --dry-run'],
  'database move': ['database move --to postgres://backhaul:secret@127.0.0.1/backhaul'],
  'deletions ls': ['deletions ls --state open'],
  'deletions run': ['deletions run'],
  doctor: ['doctor', 'doctor move.yaml --send-probe'],
  demo: ['demo', 'demo --keep --events 10000'],
  completion: ['completion bash', 'completion zsh', 'completion fish'],
};

const AFTER_ALL = `
Exit codes:
  0  finished
  1  failed; the message says what to do
  2  wrong usage or configuration
  3  finished, with more rejects than the manifest allows
  4  refused before anything was sent: an approval is required
  5  stopped, and "backhaul resume <name>" continues
  6  verified, and differences remain that nothing explains

Environment (the README lists all settings):
  BACKHAUL_DATA_DIR  folder of embedded data (default: .backhaul)
  BACKHAUL_STAGING   folder or s3://bucket/prefix of staging, the same for all machines
  REDIS_URL          Redis or Valkey of the queue (default: a private one)
  DATABASE_URL       PostgreSQL of the bundled API (default: an embedded database)
  NO_COLOR           any value: no colours

"backhaul <command> --help" shows examples of a command.`;

/** Examples behind the help of each command; exit codes and environment behind that of the program. */
export function addHelpTexts(program: Command): void {
  program.addHelpText('after', AFTER_ALL);
  for (const { command, path } of listCommands(program)) {
    const lines = (EXAMPLES[path] ?? []).map((example) => `\n  backhaul ${example}`).join('');
    if (lines !== '') command.addHelpText('after', `\nExamples:${lines}`);
  }
}

/** Commands that do something, by the words that call them. */
export const listCommands = (program: Command, before = ''): { command: Command; path: string }[] =>
  program.commands.flatMap((command) =>
    command.commands.length > 0
      ? listCommands(command, `${before}${command.name()} `)
      : [{ command, path: `${before}${command.name()}` }],
  );
