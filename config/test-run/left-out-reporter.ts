import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node';

/** Names every suite and test that a run left out, so that nothing goes missing unseen. */
export class LeftOutReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const left = modules.map((module) => ({
      file: module.relativeModuleId,
      names: [...listLeftOut(module)],
    }));
    // What runs on one database of two is most of it, and is named by its file.
    const onOne = left.filter(({ names }) => names.some(isOfOneDatabase)).map(({ file }) => file);
    const others = left
      .map(({ file, names }) => ({ file, names: names.filter((name) => !isOfOneDatabase(name)) }))
      .filter(({ names }) => names.length > 0)
      .map(({ file, names }) => `${file}: ${names.join('; ')}`);
    const parts = [...(onOne.length > 0 ? [`on the second database: ${onOne.join(', ')}`] : []), ...others];
    if (parts.length === 0) return;
    const title =
      'Left out (`npm run test:all` and `npm run test:long` run it, where the machine has the programs):';
    process.stdout.write([` ${title}`, ...parts.map((part) => `   ${part}`), '', ''].join('\n'));
  }
}

const isOfOneDatabase = (name: string) => / on (?:PGlite|PostgreSQL)$/.test(name);

/** A suite that is left out as a whole stands for its tests. */
function* listLeftOut(parent: TestModule | TestSuite): Generator<string> {
  for (const child of parent.children) {
    if (isLeftOut(child)) yield child.name;
    else if (child.type === 'suite') yield* listLeftOut(child);
  }
}

function isLeftOut(task: TestCase | TestSuite): boolean {
  // A name that the command line asks for (`-t`) leaves the others out too: the caller knows.
  return task.options.mode === 'skip';
}
