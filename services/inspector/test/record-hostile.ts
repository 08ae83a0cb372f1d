import type { ApiClient, StepRequest } from '@stemma/api';
import { isStemmaError } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { COMMIT } from './record-histories.ts';

const SHORT = 4_000;
/** What fits into a field that is a name: of a longer text its beginning. */
const cut = (text: string, most: number): string => text.slice(0, most);
/** How many of the texts each field took; others it refused with a code. */
export type Taken = Readonly<Record<string, number>>;

type Texts = Readonly<Record<'all' | 'named' | 'noted', readonly string[]>>;

const count = async (
  texts: readonly string[],
  record: (text: string, n: number) => Promise<unknown>,
): Promise<number> => {
  let taken = 0;
  for (const [n, text] of texts.entries()) {
    try {
      await record(text, n);
      taken++;
    } catch (error) {
      if (!isStemmaError(error)) throw error;
    }
  }
  return taken;
};

/**
 * Puts every hostile text into every field that a client fills: a history `nodes` with ids, roles, kinds, texts and
 * contents, `acts` with branches, saved positions, notes and interventions, `calls` with models, tools and errors, a pool
 * `pool`, a held call and breakpoints on `acts`, and histories with the texts as names.
 */
export const recordHostile = async (
  client: ApiClient,
  home: Home,
  all: readonly string[],
): Promise<Taken> => {
  const texts = {
    all,
    // An actor has at most 256 bytes.
    named: all.map((text) => cut(text, 120)),
    noted: all.map((text) => cut(text, SHORT)),
  };

  for (const name of ['nodes', 'acts'])
    await client.start({ body: { id: `start-${name}`, recorder: 'test', name } });
  const [nodes, acts, calls, pool, histories] = await Promise.all([
    recordNodes(client, texts),
    recordActs(client, texts),
    recordCalls(client, texts),
    recordPool(client, texts),
    count(texts.named, (name, n) => client.start({ body: { id: `named-${n}`, recorder: name, name } })),
  ]);
  await hold(client, home, texts);
  return { ...nodes, ...acts, ...calls, ...pool, histories };
};

const recordNodes = async (client: ApiClient, { all, named, noted }: Texts): Promise<Taken> => {
  const write = (id: string, ...steps: StepRequest[]) =>
    client.command({ history: 'nodes', body: { id, recorder: cut(id, 200), steps } });
  const ids = await count(noted, (text, n) =>
    write(
      `id-${n}`,
      {
        op: 'insert',
        parent: '^ah',
        node: {
          ...{ id: cut(text, 500), nodeType: 'cb', role: named[n], kind: named[n], content: text },
          ...{ data_source: text, data_label: { [text]: text } },
        },
      },
      ...(n % 20 === 19 ? [COMMIT] : []),
    ),
  );
  const contents = await count(all, (text, n) =>
    write(
      `content-${n}`,
      {
        op: 'insert',
        parent: n % 9 === 0 ? '^sys' : '^ah',
        node: {
          ...{ id: `n${n}`, nodeType: 'cb', role: 'assistant', kind: n % 2 === 0 ? 'text' : 'call' },
          ...(n % 7 === 0 ? { ttl: 1 } : {}),
          content:
            n % 2 === 0 ? text : [{ type: text, [text]: text, function: { name: text, arguments: text } }],
        },
      },
      ...(n % 20 === 19 ? [COMMIT] : []),
    ),
  );
  await write('end', COMMIT);
  return { ids, contents };
};

const recordActs = async (client: ApiClient, { named, noted }: Texts): Promise<Taken> => {
  const act = (id: string, actor: string, notes: string, ...steps: StepRequest[]) =>
    client.command({ history: 'acts', body: { id, actor, notes, steps } });
  await act('first', 'ann', '', { op: 'inject', text: 'a question', id: 'first' }, COMMIT);
  const actors = await count(named, (text, n) =>
    act(`actor-${n}`, text, '', { op: 'annotate', note: 'by somebody', position: '@c1' }),
  );
  const reasons = await count(noted, (text, n) =>
    act(`notes-${n}`, 'bob', text, { op: 'inject', text, source: named[n], kind: named[n] }),
  );
  await act('second', 'ann', '', COMMIT);
  const notes = await count(noted, (text, n) =>
    act(`note-${n}`, 'bob', '', { op: 'annotate', note: text, position: '@c2' }),
  );
  const saves = await count(named, (text, n) =>
    act(`save-${n}`, 'bob', '', { op: 'save', name: text, position: '@c1' }),
  );
  const descriptions = await count(noted, (text, n) =>
    act(`saved-${n}`, 'bob', '', { op: 'save', name: `saved-${n}`, description: text, position: '@c1' }),
  );
  const branches = await count(named, (text, n) =>
    act(`branch-${n}`, 'bob', '', { op: 'fork', name: text, at: '@c1' }),
  );
  const forks = await count(noted, (text, n) =>
    act(`fork-${n}`, 'bob', '', { op: 'fork', name: `fork-${n}`, description: text, at: '@c2' }),
  );
  const questions = await count(noted, (text, n) =>
    act(`query-${n}`, 'bob', '', {
      op: 'query',
      question: text,
      answer: { [text]: text },
      mind: cut(text, 200),
    }),
  );
  const breakpoints = await count(named, (text) =>
    client.addBreakpoint({ history: 'acts', body: { actor: 'bob', notes: text, tool: text, model: text } }),
  );
  return { actors, reasons, notes, saves, descriptions, branches, forks, questions, breakpoints };
};

/** Calls that say the text as model, tool, argument and reason, and every second one as its error. */
const recordCalls = async (client: ApiClient, { noted }: Texts): Promise<Taken> => {
  // Each call goes on from the one before it: else it would start a branch.
  const messages: unknown[] = [];
  const told: Record<string, unknown>[] = [];
  const calls = await count(noted, (text, n) => {
    const name = cut(text, 200);
    const call = {
      id: `${name}${n}`,
      type: 'function',
      function: { name, arguments: JSON.stringify({ [text]: text }) },
    };
    const usage = { prompt_tokens: 10, completion_tokens: 3 };
    const message = { role: 'assistant', content: text, tool_calls: [call] };
    const answer = { model: name, choices: [{ index: 0, message, finish_reason: name }], usage };
    const isFailed = n % 2 === 1;
    messages.push({ role: 'user', name, content: text });
    const shown = [...messages];
    if (!isFailed) messages.push(message, { role: 'tool', tool_call_id: call.id, content: text });
    return client.recordExchange({
      body: {
        ...{ id: `call-${n}`, recorder: name, history: 'calls' },
        request: {
          ...{ form: 'wire', method: 'POST', path: '/v1/chat/completions' },
          body: {
            text: JSON.stringify({
              ...{ model: name, user: text, [text]: text },
              messages: shown,
              tools: [{ type: 'function', function: { name, description: text, parameters: {} } }],
            }),
          },
        },
        end: {
          ...{ status: isFailed ? 'failed' : 'answered', first_byte_ms: 300, duration_ms: 900 },
          error: isFailed ? { code: name, message: text } : null,
          response: {
            ...{ form: 'wire', http_status: isFailed ? 500 : 200, content_type: 'application/json' },
            body: { text: isFailed ? text : JSON.stringify(answer) },
          },
        },
      },
    });
  });
  const said = await count(noted, (text, n) => {
    const asked = [...told, { role: 'user', name: text, content: [text, { [text]: text }] }];
    told.push(...asked.slice(-1), { role: 'assistant', content: text });
    return client.recordExchange({
      body: {
        ...{ id: `said-${n}`, recorder: 'sdk', history: 'said' },
        request: {
          form: 'said',
          model: cut(text, 500),
          messages: asked,
        },
        end: {
          ...{ status: 'answered', first_byte_ms: 1, duration_ms: 2, error: null },
          response: {
            ...{ form: 'said', answer: { role: 'assistant', content: text }, finish_reason: cut(text, 500) },
            model: cut(text, 500),
          },
        },
      },
    });
  });
  return { calls, said };
};

const recordPool = async (client: ApiClient, { all, named }: Texts): Promise<Taken> => {
  const { history } = await client.startPool({
    body: {
      ...{
        id: 'pool',
        actor: '<b>ann</b>',
        notes: all[0] ?? '',
        name: 'pool',
        system: all[1] ?? '',
      },
      messages: all.filter((text) => text.trim() !== '' && text.isWellFormed()),
      settings: { sample_size: 3, active_pool_size: 40, seed: 7 },
    },
  });
  for (const [n, text] of named.slice(0, 20).entries()) {
    const at = { branchId: 0, seq: 0 };
    await client.command({
      history,
      body: { id: `pool-${n}`, actor: 'ann', steps: [{ op: 'inject', text, source: text }] },
    });
    if (n < 2)
      await client.command({
        history,
        body: {
          id: `arm-${n}`,
          actor: 'ann',
          steps: [{ op: 'fork', name: `arm-${n}`, description: text, at }],
        },
      });
  }
  await client.runPool({ history, body: { actor: 'ann', notes: all[2] ?? '', rounds: 4 } });
  const runs = await count(named, (text, n) =>
    client.requestRun({ history, body: { id: `run-${n}`, actor: text, notes: text, rounds: 1 } }),
  );
  await count(named.slice(0, 40), (text, n) =>
    client.stopRun({ history, run: `run-${n}`, body: { actor: text, notes: text } }),
  );
  return { runs };
};

/** Calls that wait, of models with hostile names. */
const hold = async (client: ApiClient, home: Home, { named }: Texts): Promise<void> => {
  const { history } = await client.history({ history: 'acts' });
  for (const [n, model] of named.slice(0, 40).entries())
    await home.submit({
      ...{ id: `${model}-${n}.held`, history, branchId: 0, by: { recorder: 'proxy' } },
      steps: [
        {
          ...{ op: 'hold_call', attemptId: `${model}-${n}`, api: 'openai.chat', model },
          ...{ breakpoints: ['b1'], until: Date.now() + 600_000, then: 'abort' },
        },
      ],
    });
};
