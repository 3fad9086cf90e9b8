/** What one piece of work took. CPU time counts every thread of the process, so that zlib's are not free. */
export interface Cost {
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** CPU time is less shaken by neighbours on the machine than time on the wall. */
export async function measure(work: () => unknown): Promise<Cost> {
  const startedMs = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, wallMs: performance.now() - startedMs };
}

/** The highest resident memory this process ever had. */
export const peakRssMb = (): number => process.resourceUsage().maxRSS / 1024;
