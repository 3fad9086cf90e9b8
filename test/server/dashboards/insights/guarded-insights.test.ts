import { beforeAll, expect, test } from 'vitest';
import type { Queryable } from '../../../../src/server/database/db.ts';
import { asAnotherCaller, onEveryDatabase } from '../../../support/databases.ts';
import { type BoardApi, createBoardApi, type Dashboard, type Person, pageviews } from '../board-api.ts';

onEveryDatabase('an insight on a restricted dashboard', (db) => {
  let board: BoardApi;
  let member: Person;
  beforeAll(async () => {
    board = await createBoardApi(db());
    member = await board.invite('member');
  });

  const insightIds = ({ tiles }: Dashboard) => tiles.map(({ insight }) => insight?.id);
  const changeInsight = async (who: Pick<Person, 'ask'>, id: number, body: unknown) =>
    (await who.ask('PATCH', `../insights/${id}/`, body)).status;

  /** The owner's restricted dashboard with one insight. */
  async function restricted() {
    const { id } = await board.make({ name: 'ours', restriction_level: 37 });
    const [insightId = 0] = insightIds(await board.change(id, { tiles: [pageviews('Ours')] }));
    return { id, insightId };
  }

  /** A member's own dashboard that shows these insights. */
  async function own(...ids: number[]): Promise<number> {
    const { id } = (await (await member.ask('POST', '', {})).json()) as Dashboard;
    await changeOwn(id, { tiles: ids.map((insightId) => ({ insight: { id: insightId } })) });
    return id;
  }

  async function changeOwn(id: number, body: unknown): Promise<Dashboard> {
    const response = await member.ask('PATCH', `${id}/`, body);
    expect(response.status).toBe(200);
    return (await response.json()) as Dashboard;
  }

  test('is not brought back by a member who restores a dashboard of their own', async () => {
    const { id, insightId } = await restricted();
    const other = insightIds(await board.change((await board.make()).id, { tiles: [pageviews('Any')] }))[0];
    const mine = await own(insightId, other ?? 0);
    for (const deleted of [insightId, other ?? 0]) {
      expect(await changeInsight(board, deleted, { deleted: true })).toBe(200);
    }
    expect(await changeInsight(member, insightId, { deleted: false })).toBe(403);

    await changeOwn(mine, { deleted: true });
    expect(insightIds(await changeOwn(mine, { deleted: false }))).toEqual([other]);
    expect((await board.get(`${id}/`)).tiles).toEqual([]);

    await board.change(mine, { deleted: true });
    expect(insightIds(await board.change(mine, { deleted: false }))).toEqual([insightId, other]);
    expect(insightIds(await board.get(`${id}/`))).toEqual([insightId]);
  });

  test('is not deleted by a member with a dashboard of their own, should the restricted one be deleted', async () => {
    const { id, insightId } = await restricted();
    const mine = await own(insightId);
    await board.change(id, { deleted: true });
    await changeOwn(mine, { deleted: true, delete_insights: true });
    expect((await board.ask('GET', `../insights/${insightId}/`)).status).toBe(200);

    const also = await own(insightId);
    await board.change(also, { deleted: true, delete_insights: true });
    expect((await board.ask('GET', `../insights/${insightId}/`)).status).toBe(404);
  });

  test('is out of a member’s reach while the dashboard is deleted, and within it once taken off', async () => {
    const { id, insightId } = await restricted();
    await board.change(id, { deleted: true });
    expect(await changeInsight(member, insightId, { name: 'theirs' })).toBe(403);
    const back = await board.change(id, { deleted: false });
    expect(back.tiles[0]?.insight?.['name']).toBe('Ours');

    await board.change(id, { tiles: [{ id: back.tiles[0]?.id, deleted: true }] });
    expect(await changeInsight(member, insightId, { name: 'theirs' })).toBe(200);
  });

  test('is not changed by who began before it was restricted', async () => {
    const { id, insightId } = await restricted();
    await board.change(id, { restriction_level: 21 });
    const begun = await db().transaction(async (tx) => {
      await tx.query('update dashboards set restriction_level = 37 where id = $1', [id]);
      const status = asAnotherCaller(() => changeInsight(member, insightId, { name: 'theirs' }));
      await waitsForUs(tx);
      return { status };
    });
    expect(await begun.status).toBe(403);
  });

  test('is changed while dashboards that show it come, go and change', async () => {
    const { id, insightId } = await restricted();
    const also = (await board.make()).id;
    const place = { tiles: [{ insight: { id: insightId } }] };
    await board.change(also, place);
    const answers = await Promise.all([
      ...[1, 2, 3].map((n) => board.ask('PATCH', `../insights/${insightId}/`, { name: `named ${n}` })),
      ...[id, also].map((one) => board.ask('PATCH', `${one}/`, { deleted: true, delete_insights: true })),
      board.ask('POST', '', { use_dashboard: id }),
      board.ask('PATCH', `${(await board.make()).id}/`, place),
      board.ask('PATCH', `${id}/`, { deleted: false }),
    ]);
    expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([]);
  });
});

/** Until another session waits for what this one holds; on an embedded database all others do. */
async function waitsForUs(tx: Queryable): Promise<void> {
  for (let asked = 0; asked < 500; asked++) {
    const [row] = await tx.query<{ waiting: boolean }>(
      'select exists (select from pg_locks where not granted) as waiting',
    );
    if (row?.waiting) return;
  }
}
