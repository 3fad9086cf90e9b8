import { getSourceType, type SourceTypes } from '../../sources/registry.ts';
import { counted, formatBytes, formatCount, formatMinutes } from './format-text.ts';
import type { Plan, PlanLimits } from './plan.ts';

/** What the contract requires before a large import: area, source, method, volume, speed. */
export function renderSupportRequest(plan: Plan, limits: PlanLimits, types?: SourceTypes): string[] {
  const about = plan.events.exact ? '' : 'about ';
  const speed = limits.eventsPerMinute;
  const span = plan.timeSpan
    ? `, ${plan.timeSpan.from.slice(0, 10)} to ${plan.timeSpan.to.slice(0, 10)} (UTC, sampled)`
    : '';
  const duration = speed === undefined ? '' : `, for about ${formatMinutes(plan.events.count / speed)}`;
  return [
    'Target area: Data Management',
    `Subject: Historical import of ${about}${formatCount(plan.events.count)} events`,
    '',
    `Source: ${getSourceType(plan.source.type, types).exportName}, ${counted(plan.files.length, 'file')}, ${formatBytes(plan.bytes)}${span}`,
    'Method: POST /batch/ with historical_migration true, compressed with gzip,',
    `  up to ${formatCount(limits.batch.events)} events and ${formatBytes(limits.batch.bytes)} a request, ${limits.requestsInFlight} requests at once a worker;`,
    '  every event has a uuid of its own that stays the same when it is sent again;',
    '  sent by Backhaul, which can be paused and resumed at any time',
    `Total volume: ${about}${formatCount(plan.events.count)} events, and the updates of persons and groups in them`,
    `Speed: at most ${speed === undefined ? 'what the service takes' : `${formatCount(speed)} events a minute`}${duration}`,
  ];
}
