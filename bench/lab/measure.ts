/** The cost of one piece of work. CPU time includes every thread of the process, such as those of zlib. */
export interface Cost {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** CPU time depends less on other processes of the machine than wall time. */
export async function measure(work: () => unknown): Promise<Cost> {
  const startedMs = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, wallMs: performance.now() - startedMs };
}
