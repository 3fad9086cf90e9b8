import { CONTRACT_LIMITS } from '../../../config/manifest/manifest.ts';
import { PreflightError } from '../../lib/errors.ts';
import { counted, formatCount } from './format-text.ts';
import type { Approval, Plan, PlanLimits } from './plan.ts';
import { renderSupportRequest } from './support-request.ts';

/** Margin of the volume to request: a plan is an estimate, and synthetic events are added. */
const VOLUME_MARGIN = 1.2;

type Rules = { readonly [name in keyof typeof CONTRACT_LIMITS]: number };

interface CheckLimitsOptions {
  /** @default those of the contract; others in tests */
  readonly rules?: Rules | undefined;
  /** How many times the allowed volume an estimate may be before it is refused. @default 1 */
  readonly margin?: number;
  /** Events that were sent before their number was known. @default 0 */
  readonly sent?: number;
}

/** Events that may be sent without asking once more. */
export const getAllowedVolume = (approval: Approval | undefined, rules: Rules = CONTRACT_LIMITS): number =>
  Math.max(rules.totalEvents, approval?.totalEvents ?? 0);

/**
 * The contract's import rules: above 20 million events or 10,000 events a minute the service has to
 * agree first. Called with the plan, and where that comes near the limit, again with the number of events once
 * everything is staged. The bundled API takes any volume.
 */
export function checkLimits(
  plan: Plan,
  limits: PlanLimits,
  approval: Approval | undefined,
  { rules = CONTRACT_LIMITS, margin = 1, sent = 0 }: CheckLimitsOptions = {},
): void {
  if (plan.destination === 'bundled') return;
  const speed = limits.eventsPerMinute ?? rules.eventsPerMinute;
  const volume = plan.events.count;
  const allowedSpeed = Math.max(rules.eventsPerMinute, approval?.eventsPerMinute ?? 0);
  const allowedVolume = getAllowedVolume(approval, rules);
  const tooFast = speed > allowedSpeed;
  const tooMany = volume > allowedVolume * (plan.events.exact ? 1 : margin);
  if (!tooFast && !tooMany) return;

  const granted = approval ? ` (approval "${approval.reference}" included)` : ' without an approval';
  const about = plan.events.exact ? '' : 'about ';
  throw new PreflightError(
    [
      sent === 0
        ? `Migration "${plan.migration}" is not started: the service at ${plan.destination} has to agree first.`
        : `Migration "${plan.migration}" stops after ${counted(sent, 'event')}: it is larger than its sample promised, and the service at ${plan.destination} has to agree to the rest.`,
      ...(tooMany
        ? [
            `  It holds ${about}${formatCount(volume)} events; ${formatCount(allowedVolume)} are allowed${granted}.`,
          ]
        : []),
      ...(tooFast
        ? [
            `  limits.eventsPerMinute is ${formatCount(speed)}; ${formatCount(allowedSpeed)} are allowed${granted}.`,
          ]
        : []),
      '',
      'Send this support request, and wait for the answer:',
      '',
      ...renderSupportRequest(plan, limits).map((line) => `    ${line}`),
      '',
      'Once it is approved, write into the manifest what was granted:',
      '',
      '    approval:',
      `      reference: "${approval?.reference ?? 'number of the request'}"`,
      ...(speed > rules.eventsPerMinute ? [`      eventsPerMinute: ${speed}`] : []),
      ...(volume > rules.totalEvents ? [`      totalEvents: ${roundUp(volume * VOLUME_MARGIN)}`] : []),
      ...(tooFast && !tooMany
        ? ['', `Or go slower: limits.eventsPerMinute of ${allowedSpeed} or less needs no further approval.`]
        : []),
    ].join('\n'),
  );
}

/** Two leading digits are plenty for an estimate. */
export function roundUp(count: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, count))) - 1);
  return Math.ceil(count / step) * step;
}
