import { RE2JS } from 're2js';
import { toPostgresPattern } from '../pattern.ts';

/**
 * Whether a text contains what a pattern describes; undefined for a pattern that `toPostgresPattern` refuses,
 * so that both agree on what is valid. RE2 takes linear time, whatever the pattern.
 */
export function compilePattern(pattern: string): ((text: string) => boolean) | undefined {
  if (toPostgresPattern(pattern) === undefined) return undefined;
  const compiled = tryCompile(pattern.replace(ESCAPE, (text) => RESPELT.get(text) ?? respellCode(text)));
  return compiled && ((text) => compiled.test(text));
}

function tryCompile(pattern: string): RE2JS | undefined {
  try {
    // `.` matches every character, as in PostgreSQL.
    return RE2JS.compile(pattern, RE2JS.DOTALL);
  } catch {
    return undefined;
  }
}

/** Escapes that RE2 spells in another way, and the rest so that `\\u` is left alone. */
const ESCAPE = /\\(?:u[0-9a-fA-F]{4}|[\s\S])/g;
const RESPELT: ReadonlyMap<string, string> = new Map([['\\Z', '\\z']]);

const respellCode = (text: string): string => (text.length === 6 ? `\\x{${text.slice(2)}}` : text);
