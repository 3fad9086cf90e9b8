import type { Caller } from '../auth/access.ts';
import { PRIVILEGE, type Privilege, RESTRICTION, type Restriction } from '../auth/levels.ts';
import { MEMBER_LEVEL } from '../auth/users.ts';

interface Guarded {
  readonly createdBy: number | null;
  readonly restriction: Restriction;
}

/** Creator and administrators need no invitation, and they alone change the restriction. */
export function mayRestrict(
  dashboard: Guarded,
  who: { readonly userId: number; readonly memberLevel: number },
): boolean {
  return dashboard.createdBy === who.userId || who.memberLevel >= MEMBER_LEVEL.admin;
}

/** `invited`: the level of the caller as a collaborator, if they are one. */
export function computePrivilege(dashboard: Guarded, who: Caller, invited: Privilege | undefined): Privilege {
  if (dashboard.restriction === RESTRICTION.everyone || mayRestrict(dashboard, who)) return PRIVILEGE.edit;
  return invited ?? PRIVILEGE.view;
}
