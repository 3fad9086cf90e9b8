import type { Asker } from '../asker.ts';
import { PRIVILEGE, type Privilege, RESTRICTION, type Restriction } from '../levels.ts';
import { MEMBER_LEVEL } from '../users.ts';

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

/** `invited`: the level of the collaborator who asks; undefined for who is none. */
export function privilegeOf(dashboard: Guarded, who: Asker, invited: Privilege | undefined): Privilege {
  if (dashboard.restriction === RESTRICTION.everyone || mayRestrict(dashboard, who)) return PRIVILEGE.edit;
  return invited ?? PRIVILEGE.view;
}
