import type { ApiClient, StepRequest } from '@stemma/api';
import { COMMIT, insert, type Recorder } from './record-histories.ts';

/** An actor that is markup: other hostile names are refused. */
export const MARKUP = '<img src=x onerror=alert(1)>';
/** A text that is markup, and that turns what follows around. */
export const HOSTILE = `${MARKUP} \u202Egnp.exe\u202C`;

/** What a person does to a history; the id of the command is that of the intervention. */
const act = (
  client: ApiClient,
  history: string,
  id: string,
  actor: string,
  notes: string,
  ...steps: readonly StepRequest[]
) => client.command({ history, body: { id, actor, notes, steps: [...steps] } });

const start = (client: ApiClient, name: string) =>
  client.start({ body: { id: `start-${name}`, recorder: 'test', name } });

/** Those of {@link recordTrial}, and a history `many` with 200 branches. */
export const recordBranches = async (client: ApiClient, record: Recorder): Promise<void> => {
  await start(client, 'many');

  for (let n = 1; n <= 40; n++) await record('many', insert(`m${n}`, 'user', `step ${n}`), COMMIT);
  for (let n = 1; n < 200; n++) {
    const parent = n % 3 === 0 ? `many:try-${n - 1}` : 'many';
    await act(client, parent, `fork-${n}`, 'ann', '', {
      op: 'fork',
      name: `try-${n}`,
      ...(parent === 'many' ? { at: `@c${((n * 7) % 40) + 1}` } : {}),
    });
    if (n % 4 === 0) await record(`many:try-${n}`, insert(`t${n}`, 'user', 'another'), COMMIT);
  }
  await recordTrial(client, record);
};

/**
 * A history `trial` with a fork, a rollback, a fork of what was left, saved positions, and interventions of three actors; a
 * history `alone` with one branch and no intervention.
 */
export const recordTrial = async (client: ApiClient, record: Recorder): Promise<void> => {
  for (const name of ['alone', 'trial']) await start(client, name);
  await record('alone', insert('hello', 'user', 'hello'), COMMIT);

  for (let n = 1; n <= 8; n++)
    await record('trial', insert(`q${n}`, n % 2 === 1 ? 'user' : 'assistant', `turn ${n}`), COMMIT);
  await act(client, 'trial', 'keep', 'ann', 'a good place to come back to', {
    op: 'save',
    name: 'before-doubt',
    description: 'all is well',
    position: '@c5',
  });
  await act(client, 'trial', 'what-if', 'ann', 'does a hint help?', {
    op: 'fork',
    at: '@c5',
    name: 'with-hint',
    description: 'the same question with a hint',
  });
  await act(client, 'trial:with-hint', 'hint', 'ann', 'the first of two', {
    op: 'inject',
    text: 'Think of the pool size first.',
    id: 'the-hint',
  });
  await record('trial:with-hint', COMMIT);
  await record('trial:with-hint', insert('answer', 'assistant', 'It is the pool size.'), COMMIT);
  await record('trial:with-hint', insert('thanks', 'user', 'Thank you.'), COMMIT);
  await act(client, 'trial', 'back', MARKUP, HOSTILE, { op: 'rollback', to: '@c6' });
  await record('trial', insert('again', 'user', 'another seventh turn'), COMMIT);
  await act(client, 'trial:0', 'look-back', 'bob', '', { op: 'fork', at: '@c8', name: 'old-future' });
  await act(client, 'trial', 'shorter', 'bob', 'saves tokens', { op: 'config', set: { temperature: 0.5 } });
  await act(client, 'trial', 'hostile-text', 'bob', '', {
    op: 'inject',
    text: `<script>alert(2)</script>${HOSTILE}`,
  });
  await act(client, 'trial:with-hint', 'noted', 'bob', '', {
    op: 'annotate',
    note: `it was the hint: ${HOSTILE}`,
    position: '@c6',
  });
};
