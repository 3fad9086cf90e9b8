import { loadMemberLevel, MEMBER_LEVEL } from '../auth/users.ts';
import type { Db, Queryable } from '../database/db.ts';
import { runSql, sql } from '../database/sql.ts';
import type { Page } from '../http/paging.ts';

/** Ids of users who share an organisation with the user, themselves included, in order of id. */
export async function loadFellows(
  db: Queryable,
  userId: number,
  page: Page,
): Promise<{ count: number; userIds: number[] }> {
  const fellows = sql`from users u where u.id = ${userId} or exists (
    select from organization_members a join organization_members b using (organization_id)
    where a.user_id = ${userId} and b.user_id = u.id)`;
  const [total] = await runSql<{ count: number }>(db, sql`select count(*) as count ${fellows}`);
  const rows = await runSql<{ id: number }>(
    db,
    sql`select u.id ${fellows} order by u.id limit ${page.limit}::bigint offset ${page.offset}::bigint`,
  );
  return { count: total?.count ?? 0, userIds: rows.map(({ id }) => id) };
}

export interface Member {
  readonly userId: number;
  readonly level: number;
  readonly joinedAt: string;
}

const COLUMNS = sql`m.user_id as "userId", m.level, m.joined_at as "joinedAt"`;

/** The first joined first. */
export async function loadMembers(
  db: Queryable,
  organizationId: string,
  page: Page,
): Promise<{ count: number; members: Member[] }> {
  const [total] = await runSql<{ count: number }>(
    db,
    sql`select count(*) as count from organization_members where organization_id = ${organizationId}`,
  );
  const members = await runSql<Member>(
    db,
    sql`select ${COLUMNS} from organization_members m where organization_id = ${organizationId}
      order by m.joined_at, m.user_id limit ${page.limit}::bigint offset ${page.offset}::bigint`,
  );
  return { count: total?.count ?? 0, members };
}

export type MemberChange =
  | { readonly kind: 'changed'; readonly member: Member }
  | { readonly kind: 'no_member' | 'above' | 'last_owner' };

/**
 * Changes the level of a member, or removes them (`level` 'none'), on behalf of a caller, who can neither
 * raise anybody above themselves nor change anybody above them; everybody may leave. The last owner stays one:
 * changes of one organisation wait for each other.
 */
export function changeMember(
  db: Db,
  change: {
    readonly organizationId: string;
    readonly userId: number;
    readonly level: number | 'none';
    readonly callerId: number;
  },
): Promise<MemberChange> {
  const { organizationId, userId, level, callerId } = change;
  const isRemoval = level === 'none';
  return db.transaction(async (tx): Promise<MemberChange> => {
    await runSql(tx, sql`select from organizations where id = ${organizationId} for update`);
    const levelNow = (id: number) => loadMemberLevel(tx, organizationId, id);
    const [current, callerLevel] = [await levelNow(userId), (await levelNow(callerId)) ?? 0];
    if (current === undefined) return { kind: 'no_member' };
    const isLeaving = isRemoval && userId === callerId;
    if (!isLeaving && callerLevel < Math.max(MEMBER_LEVEL.admin, current, isRemoval ? 0 : level)) {
      return { kind: 'above' };
    }
    const [owners] = await runSql<{ count: number }>(
      tx,
      sql`select count(*) as count from organization_members
        where organization_id = ${organizationId} and level = ${MEMBER_LEVEL.owner}`,
    );
    const stepsDown = current === MEMBER_LEVEL.owner && (isRemoval || level < MEMBER_LEVEL.owner);
    if (stepsDown && owners?.count === 1) return { kind: 'last_owner' };
    const isThem = sql`m.organization_id = ${organizationId} and m.user_id = ${userId}`;
    const [member] = await runSql<Member>(
      tx,
      isRemoval
        ? sql`delete from organization_members m where ${isThem} returning ${COLUMNS}`
        : sql`update organization_members m set level = ${level} where ${isThem} returning ${COLUMNS}`,
    );
    if (isRemoval) await revokeUseless(tx, userId);
    return member === undefined ? { kind: 'no_member' } : { kind: 'changed', member };
  });
}

/** Revokes the keys of a user without any organisation, so that they stay closed if the user is added again. */
async function revokeUseless(tx: Queryable, userId: number): Promise<void> {
  await runSql(
    tx,
    sql`update personal_api_keys set revoked_at = now()
      where user_id = ${userId} and revoked_at is null
        and not exists (select from organization_members where user_id = ${userId})`,
  );
}
