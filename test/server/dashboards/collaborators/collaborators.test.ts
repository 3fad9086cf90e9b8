import { beforeAll, describe, expect, test } from 'vitest';
import { createUser } from '../../../../src/server/auth/users.ts';
import { onEveryDatabase } from '../../../support/databases.ts';
import { type BoardApi, createBoardApi, expectError, type Person } from '../board-api.ts';

const invalid = { type: 'validation_error', code: 'invalid_input', attr: null };
const mayNotEdit = {
  type: 'authentication_error',
  code: 'permission_denied',
  detail: "You don't have edit permissions for this dashboard.",
  attr: null,
};

onEveryDatabase('who may edit a dashboard', (db) => {
  let board: BoardApi;
  let ada: Person;
  let bob: Person;
  beforeAll(async () => {
    board = await createBoardApi(db());
    ada = await board.invite('member');
    bob = await board.invite('member');
  });
  const restricted = async () => (await board.make({ name: 'ours', restriction_level: 37 })).id;
  const invite = (id: number, who: Person, level: unknown = 37) =>
    board.ask('POST', `${id}/collaborators/`, { level, user_uuid: who.user.uuid });

  describe('a restriction', () => {
    test('lets others look, and says so', async () => {
      const id = await restricted();
      const seen = await (await ada.ask('GET', `${id}/`)).json();
      expect(seen).toMatchObject({ effective_restriction_level: 37, effective_privilege_level: 21 });
      const list = (await (await ada.ask('GET', '')).json()) as { results: { id: number }[] };
      expect(list.results.find((each) => each.id === id)).toMatchObject({ effective_privilege_level: 21 });
      expect(await board.get(`${id}/`)).toMatchObject({ effective_privilege_level: 37 });
    });

    test('keeps others from every change, before the body is looked at', async () => {
      const id = await restricted();
      const open = (await board.make({})).id;
      await expectError(ada.ask('PATCH', `${id}/`, { pinned: 'perhaps' }), 403, mayNotEdit);
      await expectError(ada.ask('PATCH', `${id}/move_tile/`, {}), 403, mayNotEdit);
      await expectError(ada.ask('PATCH', `${id}/sharing/`, { enabled: true }), 403, mayNotEdit);
      await expectError(ada.ask('POST', `${id}/collaborators/`, {}), 403, mayNotEdit);
      await expectError(ada.ask('DELETE', `${id}/collaborators/${bob.user.uuid}/`), 403, mayNotEdit);
      const { tiles } = await board.change(open, { tiles: [{ text: { body: 'a' } }] });
      const move = { tile: { id: tiles[0]?.id }, toDashboard: id };
      await expectError(ada.ask('PATCH', `${open}/move_tile/`, move), 403, mayNotEdit);
      expect(await board.get(`${id}/`)).toMatchObject({ name: 'ours', pinned: false, tiles: [] });
    });

    test('is changed by the creator and administrators alone', async () => {
      const made = (await (await ada.ask('POST', '', { name: 'hers' })).json()) as { id: number };
      await expectError(bob.ask('PATCH', `${made.id}/`, { restriction_level: 37 }), 403, {
        ...mayNotEdit,
        detail:
          "Only the dashboard owner and project admins have the restriction rights required to change the dashboard's restriction level.",
      });
      expect((await bob.ask('PATCH', `${made.id}/`, { restriction_level: 21, name: 'ours' })).status).toBe(
        200,
      );
      expect((await ada.ask('PATCH', `${made.id}/`, { restriction_level: 37 })).status).toBe(200);
      const admin = await board.invite('admin');
      expect((await admin.ask('PATCH', `${made.id}/`, { restriction_level: '21' })).status).toBe(200);
      expect(await board.get(`${made.id}/`)).toMatchObject({ name: 'ours', restriction_level: 21 });
    });
  });

  describe('a collaborator', () => {
    test('is invited, listed, may edit, and is sent away', async () => {
      const id = await restricted();
      const response = await invite(id, ada);
      expect(response.status).toBe(201);
      const invited = await response.json();
      expect(invited).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        dashboard_id: id,
        user: ada.user,
        level: 37,
        added_at: expect.any(String),
        updated_at: expect.any(String),
        user_uuid: ada.user.uuid,
      });
      expect(await board.get(`${id}/collaborators/`)).toEqual([invited]);
      expect(await (await ada.ask('PATCH', `${id}/`, { name: 'edited' })).json()).toMatchObject({
        name: 'edited',
        effective_privilege_level: 37,
      });
      await expectError(bob.ask('PATCH', `${id}/`, { name: 'x' }), 403, mayNotEdit);
      await expectError(ada.ask('PATCH', `${id}/`, { restriction_level: 21 }), 403, {
        code: 'permission_denied',
      });

      const gone = await board.ask('DELETE', `${id}/collaborators/${ada.user.uuid}/`);
      expect(gone.status).toBe(204);
      expect(await gone.text()).toBe('');
      expect(await board.get(`${id}/collaborators/`)).toEqual([]);
      await expectError(ada.ask('PATCH', `${id}/`, { name: 'x' }), 403, mayNotEdit);
      await expectError(board.ask('DELETE', `${id}/collaborators/${ada.user.uuid}/`), 404, {
        code: 'not_found',
      });
    });

    test('may be invited by another, as a form too', async () => {
      const id = await restricted();
      await invite(id, ada);
      const response = await ada.ask('POST', `${id}/collaborators/`, `level=37&user_uuid=${bob.user.uuid}`);
      expect(response.status).toBe(201);
      expect(await board.get(`${id}/collaborators/`)).toMatchObject([
        { user_uuid: ada.user.uuid },
        { user_uuid: bob.user.uuid },
      ]);
    });

    test('needs a level and a user', async () => {
      const id = await restricted();
      const add = (body: unknown) => board.ask('POST', `${id}/collaborators/`, body);
      const user_uuid = ada.user.uuid;
      await expectError(add({ user_uuid }), 400, { code: 'required', attr: 'level' });
      await expectError(add({ level: 37 }), 400, { code: 'required', attr: 'user_uuid' });
      await expectError(add({ level: 37, user_uuid: 'ada' }), 400, {
        attr: 'user_uuid',
        detail: 'Must be a valid UUID.',
      });
      await expectError(add({ level: 99, user_uuid }), 400, {
        code: 'invalid_choice',
        attr: 'level',
        detail: '"99" is not a valid choice.',
      });
      await expectError(add({ level: 21, user_uuid }), 400, {
        ...invalid,
        attr: 'level',
        detail: 'Only edit access can be explicitly specified currently.',
      });
    });

    test('must be somebody who could not edit otherwise', async () => {
      const id = await restricted();
      const add = (user_uuid: string) => board.ask('POST', `${id}/collaborators/`, { level: 37, user_uuid });
      await expectError(add('2f0cd4d3-2e8a-4b8e-9a0e-2d2e43f3c1aa'), 400, {
        ...invalid,
        detail: 'User does not exist.',
      });
      const stranger = await createUser(db(), { email: 'stranger@example.com', firstName: 'Stranger' });
      await db().query('delete from organization_members where user_id = $1', [stranger.id]);
      await expectError(add(stranger.uuid), 400, {
        ...invalid,
        detail: 'Cannot add collaborators that have no access to the project.',
      });
      const inherent = {
        ...invalid,
        detail:
          'Cannot add collaborators that already have inherent access (the dashboard owner or a project admins).',
      };
      const admin = await board.invite('admin');
      await expectError(add(admin.user.uuid), 400, inherent);
      const hers = (await (await ada.ask('POST', '', { restriction_level: 37 })).json()) as { id: number };
      await expectError(invite(hers.id, ada), 400, inherent);
      await invite(id, ada);
      await expectError(invite(id, ada), 400, { ...invalid, detail: 'User already is a collaborator.' });
    });

    test('belongs to a restricted dashboard', async () => {
      const open = await board.make({});
      await expectError(invite(open.id, ada), 400, {
        ...invalid,
        detail: 'Cannot add collaborators to a dashboard on the lowest restriction level.',
      });
      const id = await restricted();
      await invite(id, ada);
      await board.change(id, { restriction_level: 21 });
      const remove = (uuid: string) => board.ask('DELETE', `${id}/collaborators/${uuid}/`);
      await expectError(remove(ada.user.uuid), 400, {
        ...invalid,
        detail: 'Cannot remove collaborators from a dashboard on the lowest restriction level.',
      });
      await expectError(remove(bob.user.uuid), 404, { code: 'not_found' });
      await expectError(remove('ada'), 404, { code: 'not_found' });
    });

    test('of a dashboard that is not there, or not changed in place', async () => {
      const id = await restricted();
      await board.change(id, { deleted: true });
      const missing = { code: 'not_found', detail: 'Dashboard not found.' };
      for (const wrong of [id, 999_999, 'abc']) {
        await expectError(board.ask('GET', `${wrong}/collaborators/`), 404, missing);
        await expectError(board.ask('POST', `${wrong}/collaborators/`, {}), 404, missing);
        await expectError(board.ask('DELETE', `${wrong}/collaborators/${ada.user.uuid}/`), 404, missing);
      }
      for (const method of ['PATCH', 'PUT']) {
        await expectError(board.ask(method, `${id}/collaborators/${ada.user.uuid}/`, {}), 405, {
          code: 'method_not_allowed',
        });
      }
    });
  });
});
