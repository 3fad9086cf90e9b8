import { html } from 'hono/html';
import type { Html } from '../../../charts/html.ts';
import type { MigrationView } from '../../../migrations/status/view.ts';
import { formatTime } from './format.ts';

export const renderErrors = ({ errors, migration }: MigrationView): Html =>
  errors.length === 0
    ? html`<p class="quiet">Nothing has stopped a run or failed in one.</p>`
    : html`<ol class="plain">${errors.map(
        ({ what, reason, at }) =>
          html`<li><span class="badge ${at === undefined ? 'stopped' : what}">${at === undefined ? 'failed' : what}</span> <span class="quiet">${at === undefined ? what : `${formatTime(at)} UTC`}</span><br>${reason}</li>`,
      )}</ol><p class="quiet">docs/runbook.md has each message with what to do about it; <code>backhaul resume ${migration}</code> continues.</p>`;
