import type { Batch } from '../../contract/delivery.ts';
import type { TargetEvent } from '../../contract/event.ts';
import { ConfigError, PausedError, UnavailableError } from '../../lib/errors.ts';
import type { Decision } from '../classify.ts';
import { copyEvent, countEvents, type Range, sliceBody } from '../ranges.ts';

export type Doubt = Extract<Decision, { kind: 'doubt' }>;

/** Single events that are tried before everything counts as refused. */
const WITNESSES = 3;
/** Where an operator has looked and says that events are bad, there may be many of them. */
const WITNESSES_ACCEPTED = 20;

/** A range of a batch. */
export interface Piece {
  readonly batch: Batch;
  readonly range: Range;
}

export interface AskOthers {
  /** An event that was accepted before; undefined while there is none. */
  readonly findKnownGood: () => Batch | undefined;
  /** Looks for one among those that were accepted before this process began. */
  readonly seekKnownGood: () => Promise<void>;
  /** Whether no other event than this one was refused while there was none to ask. */
  readonly isOnlyOne: (event: Batch) => boolean;
  /** Sends one event once. Keeps it as known good where it is accepted. */
  readonly sendOnce: (event: Batch) => Promise<Decision>;
  readonly acceptRefusals: boolean;
  /** Whether an event that failed, and may be stored, must not arrive behind those after it that depend on it. */
  readonly keepsOrder: boolean;
  /** Waits as long as after so many failed attempts. */
  readonly pause: (tries: number) => Promise<void>;
}

/**
 * A firewall in front of the destination answers 403 to one event, a gateway 404 or 422, and others to every request
 * with a wrong key or address. So such an answer is about the events of its request only where the destination takes
 * an event at the same moment that it took before, or, before it took any, one of a few of this range. Resolves then.
 *
 * @throws {PausedError | ConfigError} what the answer means where nothing is taken
 * @throws {UnavailableError} where an outage keeps it from being known
 */
export async function assertTakesOthers(
  doubt: Doubt,
  { batch, range }: Piece,
  { findKnownGood, seekKnownGood, isOnlyOne, sendOnce, acceptRefusals, keepsOrder, pause }: AskOthers,
): Promise<void> {
  if (!findKnownGood()) await seekKnownGood();
  const isAlone = countEvents(range) === 1 && !findKnownGood();
  if (doubt.isRepeated && isAlone) throw toError(doubt);
  // Nothing else can tell, and an operator has looked. With a second one it is the key or the address.
  if (acceptRefusals && isAlone && isOnlyOne(copyEvent(batch, range.from))) return;
  const witnesses = acceptRefusals && countEvents(range) > WITNESSES ? WITNESSES_ACCEPTED : WITNESSES;
  for (let tries = 1; ; tries += 1) {
    const witness =
      keepsOrder && doubt.isRepeated ? findApart({ batch, range }) : pickWitness(range, tries, witnesses);
    const answer = await sendOnce(findKnownGood() ?? copyEvent(batch, witness));
    if (answer.kind === 'accepted') return;
    const mayPass = answer.kind === 'pause' && answer.mayPass && findKnownGood() && tries < WITNESSES;
    if (answer.kind === 'pause' && !mayPass) throw new PausedError(answer.message);
    if (tries >= (findKnownGood() ? WITNESSES : witnesses)) {
      if (answer.kind === 'retry')
        throw new UnavailableError(`the destination is not available: ${answer.detail}`);
      throw toError(doubt);
    }
    await pause(Math.min(tries, WITNESSES));
  }
}

const toError = ({ error, message }: Doubt) =>
  error === 'pause' ? new PausedError(message) : new ConfigError(message);

/**
 * Whether a request that failed in all its attempts may fail for its content: an event that was accepted before is
 * accepted now, or, before any was, one of three of this range alone. A wait without a limit would be the other way.
 */
export async function isOtherTaken(
  { batch, range }: Piece,
  { findKnownGood, seekKnownGood, sendOnce, keepsOrder }: AskOthers,
): Promise<boolean> {
  if (!findKnownGood()) {
    await seekKnownGood();
    if (findKnownGood()) return true;
    if (countEvents(range) === 1) return false;
  }
  for (let tries = 1; tries <= WITNESSES; tries += 1) {
    const witness = keepsOrder ? findApart({ batch, range }) : pickWitness(range, tries, WITNESSES);
    if ((await sendOnce(findKnownGood() ?? copyEvent(batch, witness))).kind === 'accepted') return true;
  }
  return false;
}

/** The first one, the last one, and those between at equal distances. */
const pickWitness = (range: Range, tries: number, witnesses: number) =>
  range.from + Math.floor(((countEvents(range) - 1) * (tries - 1)) / (witnesses - 1));

/**
 * The first event that is about somebody else than all before it, so that it may arrive before these; else the first
 * one. All that a turn says of a person or group is in events of its own distinct id.
 */
function findApart({ batch, range }: Piece): number {
  const first = readSubject(batch, range.from);
  for (let index = range.from + 1; index < range.to; index += 1)
    if (readSubject(batch, index) !== first) return index;
  return range.from;
}

function readSubject(batch: Batch, index: number): unknown {
  const body = sliceBody(batch, { from: index, to: index + 1 });
  return (JSON.parse(body.toString('utf8')) as TargetEvent).properties.distinct_id;
}
