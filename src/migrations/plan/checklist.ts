import { CONTRACT_LIMITS } from '../../../config/manifest/manifest.ts';
import { SERVICE_GROUP_EVENT } from '../../identity/property-filter.ts';
import { counted } from './format-text.ts';
import type { Plan } from './plan.ts';

/** `open`: only a person can know. `warning`: the plan shows something to look at. */
export interface CheckItem {
  readonly state: 'done' | 'open' | 'warning';
  readonly text: string;
}

/** What precedes an import: the contract's rules, and what the sample shows. */
export function makeChecklist(plan: Plan): CheckItem[] {
  const items: CheckItem[] = [];
  const { eventsPerMinute } = plan.limits;
  const large =
    plan.events.count > CONTRACT_LIMITS.totalEvents ||
    (eventsPerMinute ?? 0) > CONTRACT_LIMITS.eventsPerMinute;
  if (plan.destination !== 'bundled') {
    items.push(
      { state: 'open', text: 'The project is on a cloud region of the service.' },
      { state: 'open', text: 'The plan is a paid one for product analytics (the import itself is free).' },
      {
        state: plan.approval ? 'done' : 'open',
        text: 'A support request (target area Data Management) states source, method, volume and speed.',
      },
      approvalItem(plan, large),
      groupsItem(plan),
      {
        state: 'open',
        text: 'The import was rehearsed in a new project first (or with the bundled API: leave "destination" out of the manifest).',
      },
    );
  }
  items.push({
    state: 'open',
    text: `Timestamps without a zone are in ${plan.source.timezone}: compare an hour of the export with what the vendor shows.`,
  });
  for (const text of plan.warnings) items.push({ state: 'warning', text });
  items.push(
    plan.youngEvents === 0
      ? { state: 'done', text: 'No sampled event is younger than 48 hours.' }
      : {
          state: 'warning',
          text: `Younger than 48 hours, or in the future: ${counted(plan.youngEvents, 'sampled event')}. The service may count such events as live traffic and charge them: end the export earlier, or import them later.`,
        },
  );
  return items;
}

/** PostHog's own service acts on the name that its SDKs send, the contract names another. */
function groupsItem({ groupIdentifyEvent }: Plan): CheckItem {
  return groupIdentifyEvent === SERVICE_GROUP_EVENT
    ? { state: 'done', text: explainGroupEvent(groupIdentifyEvent) }
    : { state: 'open', text: explainGroupEvent(groupIdentifyEvent) };
}

/** What carries group properties, and what to set for a service that knows another name. */
export const explainGroupEvent = (name: string): string =>
  name === SERVICE_GROUP_EVENT
    ? `Properties of groups are sent as "${name}", the event that PostHog's own service acts on.`
    : `Properties of groups are sent as "${name}". PostHog's own service acts on "${SERVICE_GROUP_EVENT}" alone: set people.groupIdentifyEvent to it for that service.`;

function approvalItem({ approval }: Plan, large: boolean): CheckItem {
  if (approval) return { state: 'done', text: `The request is approved: ${approval.reference}.` };
  return large
    ? {
        state: 'warning',
        text: 'The request is approved, and the manifest has it in "approval": needed at this volume or speed.',
      }
    : {
        state: 'open',
        text: 'The request is approved. (Backhaul insists on it above 20 million events or 10,000 events a minute.)',
      };
}
