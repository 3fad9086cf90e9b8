import type { InsightResult } from '../insight-port.ts';

export function renderInsight(result: InsightResult): string {
  return result.kind;
}
