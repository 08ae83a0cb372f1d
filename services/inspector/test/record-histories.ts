import type { ApiClient, StepRequest } from '@stemma/api';

export const insert = (
  id: string,
  role: string,
  content: unknown,
  more: Record<string, unknown> = {},
): StepRequest => ({
  op: 'insert',
  parent: role === 'system' ? '^sys' : '^ah',
  node: { id, nodeType: 'cb', role, kind: 'text', content, ...more },
});
export const COMMIT: StepRequest = { op: 'commit' };

/** Sends steps to a history as one command. */
export type Recorder = (history: string, ...steps: readonly StepRequest[]) => Promise<unknown>;

export const recorderOf = (client: ApiClient): Recorder => {
  let made = 0;
  return (history, ...steps) =>
    client.command({ history, body: { id: `command-${made++}`, recorder: 'test', steps: [...steps] } });
};

/** Three histories: long, hostile, and, as the one that changed last, a support conversation whose documents expire. */
export const recordHistories = async (client: ApiClient, record: Recorder): Promise<void> => {
  await client.start({ body: { id: 'start-long', recorder: 'test', name: 'long' } });
  for (let n = 1; n <= 400; n++) await record('long', insert(`q${n}`, 'user', `question ${n}`), COMMIT);
  await recordShort(client, record);
};

/** Those of {@link recordHistories} but the long one. */
export const recordShort = async (client: ApiClient, record: Recorder): Promise<void> => {
  for (const name of ['hostile', 'support'])
    await client.start({ body: { id: `start-${name}`, recorder: 'test', name } });
  await record(
    'hostile',
    insert(
      '<img src=x onerror=alert(1)>',
      'user',
      '<script>alert(2)</script><img src=x onerror=alert(3)> \u202Eexe.gpj\u202C \u0000\u001b[31m',
    ),
    insert('endless', '<b>role</b>', 'x'.repeat(300_000), { kind: '"><i>' }),
    insert('rtl', 'assistant', 'שלום עולם mixed العربية'),
    COMMIT,
  );
  await record(
    'support',
    insert('policy', 'system', 'You help with orders. Be brief.'),
    insert('ask', 'user', 'Where is my order 1042?'),
    COMMIT,
  );
  await record(
    'support',
    insert('call', 'assistant', { name: 'find_order', arguments: '{"id":1042}' }, { kind: 'call' }),
    insert('found', 'tool', '{"status":"on its way","eta":"Friday"}', { kind: 'result', ttl: 1 }),
    COMMIT,
  );
  await record(
    'support',
    insert('answer', 'assistant', 'It arrives on Friday.'),
    insert('more', 'user', 'Can I change the address?'),
    COMMIT,
  );
  await record(
    'support',
    insert('yes', 'assistant', 'Yes, until tomorrow.'),
    insert('please', 'user', 'Please do.'),
    COMMIT,
  );
};
