import type { PersonalKey } from '../auth/keys.ts';
import { MEMBER_LEVEL } from '../auth/users.ts';
import type { Queryable } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';
import { ApiError, permissionDenied } from '../http/errors.ts';

/** One user in one organisation. */
export interface Membership {
  readonly organizationId: string;
  readonly organizationName: string;
  /** See MEMBER_LEVEL. */
  readonly level: number;
}

/** Memberships by user, the first joined first. Users without one have no entry. */
export async function loadMemberships(
  db: Queryable,
  userIds: readonly number[],
): Promise<Map<number, Membership[]>> {
  const rows = await runSql<Membership & { readonly userId: number }>(
    db,
    sql`select m.user_id as "userId", o.id as "organizationId", o.name as "organizationName",
         m.level
      from organization_members m join organizations o on o.id = m.organization_id
      where m.user_id = any(${userIds}::integer[]) order by m.joined_at, o.id`,
  );
  const found = new Map<number, Membership[]>();
  for (const { userId, ...membership } of rows) {
    found.set(userId, [...(found.get(userId) ?? []), membership]);
  }
  return found;
}

/**
 * The organisation to be changed: the named one, or else the first of the user. Requires an administrator
 * whose key is not restricted to projects: such a key does not reach what is added to an organisation.
 */
export function requireAdministered(
  key: Pick<PersonalKey, 'projectIds'>,
  memberships: readonly Membership[],
  organizationId: string | undefined,
): Membership {
  const named = organizationId?.toLowerCase();
  const found = named === undefined ? memberships[0] : memberships.find((m) => m.organizationId === named);
  if (found === undefined) {
    const detail = 'There is no such organization, or you are not its member.';
    throw new ApiError(400, 'validation_error', 'does_not_exist', detail, 'organization');
  }
  if (key.projectIds !== null) {
    throw permissionDenied('An API key that is restricted to projects cannot change their organization.');
  }
  if (found.level < MEMBER_LEVEL.admin) {
    throw permissionDenied('Your level in the organization is insufficient: it takes an administrator.');
  }
  return found;
}
