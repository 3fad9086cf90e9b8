import { expect } from 'vitest';

/** A metric with its samples. */
export interface Family {
  type: string;
  samples: { labels: Record<string, string>; value: number }[];
}

/** Strict: HELP, then TYPE, then the samples of that name, each once; nothing else. */
export function parseExposition(text: string): Map<string, Family> {
  expect(text.endsWith('\n')).toBe(true);
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let name = '';
  for (const line of text.slice(0, -1).split('\n')) {
    const help = /^# HELP ([a-z_][a-z0-9_]*) \S.*$/.exec(line);
    const type = /^# TYPE ([a-z_][a-z0-9_]*) (gauge|counter)$/.exec(line);
    const sample = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (-?[\d.e+]+)$/.exec(line);
    if (help) {
      name = help[1] ?? '';
      expect(families.has(name), line).toBe(false);
    } else if (type) {
      expect(type[1]).toBe(name);
      families.set(name, { type: type[2] ?? '', samples: [] });
    } else {
      expect(sample?.[1], line).toBe(name);
      const labels: Record<string, string> = {};
      const rest = (sample?.[2] ?? '').replace(
        /([a-z_]+)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/g,
        (_, label, value) => {
          labels[label] = value;
          return '';
        },
      );
      expect(rest, line).toBe('');
      const key = `${name}${JSON.stringify(labels)}`;
      expect(seen.has(key), line).toBe(false);
      seen.add(key);
      families.get(name)?.samples.push({ labels, value: Number(sample?.[3]) });
    }
  }
  return families;
}
