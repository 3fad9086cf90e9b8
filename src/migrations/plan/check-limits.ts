import { CONTRACT_LIMITS } from '../../../config/manifest/manifest.ts';
import { PreflightError } from '../../lib/errors.ts';
import { formatCount } from './format-text.ts';
import type { Approval, Plan, PlanLimits } from './plan.ts';
import { renderSupportRequest } from './support-request.ts';

/** Margin of the volume to request: a plan is an estimate, and synthetic events are added. */
const VOLUME_MARGIN = 1.2;

/**
 * The contract's import rules: above 20 million events or 10,000 events a minute the service has to
 * agree first. Called with the plan, and again with exact counts when everything is staged. The
 * bundled API takes any volume.
 */
export function checkLimits(plan: Plan, limits: PlanLimits, approval: Approval | undefined): void {
  if (plan.destination === 'bundled') return;
  const speed = limits.eventsPerMinute ?? CONTRACT_LIMITS.eventsPerMinute;
  const volume = plan.events.count;
  const allowedSpeed = Math.max(CONTRACT_LIMITS.eventsPerMinute, approval?.eventsPerMinute ?? 0);
  const allowedVolume = Math.max(CONTRACT_LIMITS.totalEvents, approval?.totalEvents ?? 0);
  const tooFast = speed > allowedSpeed;
  const tooMany = volume > allowedVolume;
  if (!tooFast && !tooMany) return;

  const granted = approval ? ` (approval "${approval.reference}" included)` : ' without an approval';
  const about = plan.events.exact ? '' : 'about ';
  throw new PreflightError(
    [
      `Migration "${plan.migration}" is not started: the service at ${plan.destination} has to agree first.`,
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
      ...(speed > CONTRACT_LIMITS.eventsPerMinute ? [`      eventsPerMinute: ${speed}`] : []),
      ...(volume > CONTRACT_LIMITS.totalEvents
        ? [`      totalEvents: ${roundUp(volume * VOLUME_MARGIN)}`]
        : []),
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
