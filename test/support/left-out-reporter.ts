import type { Reporter, TestModule, TestSuite, Vitest } from 'vitest/node';

/** Names every suite and test that a run left out, so that nothing goes missing unseen. */
export class LeftOutReporter implements Reporter {
  #selects = false;

  /** Whoever selects tests by name (`-t`) knows that the others are left out. */
  onInit({ config }: Vitest): void {
    this.#selects = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (this.#selects) return;
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
    if (child.options.mode === 'skip') yield child.name;
    else if (child.type === 'suite') yield* listLeftOut(child);
  }
}
