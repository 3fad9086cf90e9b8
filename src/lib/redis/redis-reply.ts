import { getMessage } from '../errors.ts';

/*
 * What an error reply of Redis means. The protocol begins each with a code in capital letters; the text behind it
 * differs between versions and servers, and may quote anything.
 * https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors
 */

/**
 * `outage`: Redis cannot do now what it will do later. `refusal`: it refuses the user or the password, or what the
 * user may do, or is another node of a cluster; only an operator can change that. `other`: neither, or no reply at all.
 */
export type ReplyKind = 'outage' | 'refusal' | 'other';

/** https://github.com/redis/redis/blob/7.2/src/server.c (createSharedObjects) */
const KINDS: ReadonlyMap<string, ReplyKind> = new Map([
  ['OOM', 'outage'],
  ['READONLY', 'outage'],
  ['LOADING', 'outage'],
  ['MISCONF', 'outage'],
  ['NOREPLICAS', 'outage'],
  ['MASTERDOWN', 'outage'],
  ['CLUSTERDOWN', 'outage'],
  ['TRYAGAIN', 'outage'],
  ['BUSY', 'outage'],
  ['UNBLOCKED', 'outage'],
  ['MAXCLIENTS', 'outage'],
  ['NOAUTH', 'refusal'],
  ['WRONGPASS', 'refusal'],
  ['NOPERM', 'refusal'],
  ['MOVED', 'refusal'],
]);

const CODE = /^-?([A-Z][A-Z0-9_]*)(?= |$)/;
/** Redis 7 has no code for what a script may not do because its user may not. */
const FORBIDDEN_IN_SCRIPT = /^ERR (?:The user executing the script can't |ACL failure in script: )/;
/** Redis 6 quotes the reply that a script met: `ERR Error running script (…): @user_script:1: -OOM command …`. */
const QUOTED_BY_SCRIPT = /@user_script: ?\d+: -([A-Z][A-Z0-9_]*)(?= |$)/;

/** The code of an error reply; undefined where the error is none. Of a reply that a script met, the one that it met. */
export function getReplyCode(error: unknown): string | undefined {
  // Redis clients give replies this name; BullMQ may bring a client of its own, with a class of its own.
  if (!(error instanceof Error) || error.name !== 'ReplyError') return undefined;
  const [, code] = CODE.exec(error.message) ?? [];
  if (code !== 'ERR') return code;
  if (error.message === 'ERR max number of clients reached') return 'MAXCLIENTS'; // the one that has no code
  if (FORBIDDEN_IN_SCRIPT.test(error.message)) return 'NOPERM';
  return QUOTED_BY_SCRIPT.exec(error.message)?.[1] ?? code;
}

/**
 * Whether a server takes writes, by its INFO. One that does not, because its disk or memory is full or it is a
 * replica, keeps answering reads, and what it holds expires.
 */
export function takesWrites(info: string): boolean {
  const read = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const maxmemory = Number(read('maxmemory') ?? 0);
  const isFull = maxmemory > 0 && Number(read('used_memory') ?? 0) >= maxmemory;
  return read('aof_last_write_status') !== 'err' && read('role') !== 'slave' && !isFull;
}

/** Looks into what wraps replies: causes, aggregated errors, and what made a transaction be discarded (EXECABORT). */
export function classifyReply(error: unknown): ReplyKind {
  const code = getReplyCode(error);
  const own = code === undefined ? undefined : KINDS.get(code);
  if (own !== undefined) return own;
  const kinds = listWrapped(error).map(classifyReply);
  return kinds.find((kind) => kind === 'refusal') ?? kinds.find((kind) => kind === 'outage') ?? 'other';
}

function listWrapped(error: unknown): unknown[] {
  if (!(error instanceof Error)) return [];
  const { previousErrors } = error as { readonly previousErrors?: unknown };
  return [
    ...(error instanceof AggregateError ? error.errors : []),
    ...(Array.isArray(previousErrors) ? previousErrors : []),
    ...(error.cause === undefined ? [] : [error.cause]),
  ];
}

/** For an operator: a sentence, without its full stop. What Redis says names no password. */
export const explainRefusedByRedis = (error: unknown): string =>
  getReplyCode(error) === 'MOVED'
    ? `REDIS_URL names a node of a Redis Cluster that does not hold the keys of Backhaul (${getMessage(error)}). Name the node that does in REDIS_URL, or an address that leads to it also after a failover, then resume`
    : `Redis refuses the user or the password of REDIS_URL, or what that user may do (${getMessage(error)}). Correct them in REDIS_URL (redis://user:password@host:port), then resume`;

/** `what`: which right. */
export const explainMissingRight = (what: string): string =>
  `the user of REDIS_URL lacks a right (${what}). Give it all commands, on keys that begin with {bh}, and all channels, then run the command again`;
