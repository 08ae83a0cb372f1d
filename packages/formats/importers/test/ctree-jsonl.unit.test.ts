import { NODE_KIND, type Payload } from '@stemma/context-tree';
import {
  printPlain,
  profileNamed,
  readEventLog,
  readExactJson,
  readLogLine,
  type ExactJson,
} from '@stemma/stages';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { toOpenAIMessages } from '../src/openai-chat/to-openai-messages.ts';
import { record, sourceOf, type Recorded } from './in-memory.ts';

const ENGINE = profileNamed('breadboard-0.1');
const HEADER = '{"_type":"ctree_eventlog_header","schema_version":"0.1"}';

const imported = async (lines: readonly string[]): Promise<Recorded> => {
  const [recorded] = await record(sourceOf(lines.join('\n')), { format: 'ctree-jsonl' });
  if (recorded === undefined) throw new Error('nothing was recorded');
  return recorded;
};

type Block = { readonly id: string; readonly role: string | null; readonly payload: Payload };

const blocksOf = ({ working, payloads }: Recorded): readonly Block[] => {
  const blocks = working.ids.flatMap((id, place) =>
    working.kinds[place] === NODE_KIND.block
      ? [
          {
            id,
            role: working.headers[place]?.role ?? null,
            payload: payloads(working.payloads[place] as never),
          },
        ]
      : [],
  );
  const ordinal = ({ payload }: Block): number => (payload['data_event'] as { ordinal: number }).ordinal;
  return blocks.sort((a, b) => ordinal(a) - ordinal(b));
};

type Event = Readonly<Record<string, ExactJson>>;

/** The event that a block stands for: what the mapping says that it can be read back from. */
const eventOf = ({ role, payload }: Block): Event => {
  if (typeof payload['data_line'] === 'string') return readExactJson(payload['data_line']) as Event;
  const event = payload['data_event'] as Event;
  const { kind = null, fields = {}, turn, node_id: given } = event;
  return {
    ...(fields as Event),
    kind,
    ...(event['payload'] === undefined ? {} : { payload: payloadOf(event, role, payload) }),
    ...(turn === undefined ? {} : { turn }),
    ...(given === undefined ? {} : { node_id: given }),
  };
};

const payloadOf = (event: Event, role: string | null, payload: Payload): ExactJson => {
  switch (event['payload']) {
    case 'content':
      return payload['content'] as ExactJson;
    case 'here':
      return event['here'] ?? null;
    case 'result':
      return { ...((event['rest'] ?? {}) as Event), content: payload['content'] as ExactJson };
    default: {
      const { fields = {} } = payload['data_message'] as { fields?: Event };
      const spoken = role === null ? {} : { role };
      const said = event['role'] === undefined ? spoken : { role: event['role'] };
      const from = event['content'];
      return {
        ...fields,
        ...said,
        ...(typeof from === 'string' ? { [from]: payload['content'] as ExactJson } : {}),
      };
    }
  }
};

const vectors = readExactJson(
  readFileSync(
    new URL('../../../testing/test-kit/vectors/ctrees-breadboard-0.1.json', import.meta.url),
    'utf8',
  ),
) as { readonly cases: readonly { readonly raw_lines: readonly string[]; readonly about?: string }[] };

describe('ctree-jsonl@1', () => {
  it(
    'keeps every line of every log of the original engine, so that its event can be read back exactly',
    { tags: ['compiler-stages:import'] },
    async () => {
      let events = 0;
      for (const { raw_lines: lines } of vectors.cases) {
        if (lines.length === 0) continue;
        const wanted = lines
          .map((text, at) => readLogLine(ENGINE, text, at + 1))
          .flatMap((line) => (line.is === 'node' ? [printPlain(line.event)] : []));
        const got = blocksOf(await imported(lines)).map((block) => printPlain(eventOf(block)));
        expect(got).toEqual(wanted);
        events += wanted.length;
      }
      expect(events).toBeGreaterThan(800);
    },
  );

  it(
    'keeps the given and generated ids of all nodes, except ids that are already taken',
    { tags: ['compiler-stages:import'] },
    async () => {
      for (const { raw_lines: lines } of vectors.cases) {
        if (lines.length === 0) continue;
        const ids = readEventLog(ENGINE, lines).nodes.map(({ id }) => id);
        const got = blocksOf(await imported(lines)).map(({ id }) => id);
        expect(new Set(got).size).toBe(ids.length);
        ids.forEach((id, at) => {
          if (ids.indexOf(id) === at) expect(got[at]).toBe(id);
          else expect(got[at]).toMatch(/^line:\d+$/);
        });
      }
    },
  );

  it(
    'reports every bad line with its number, and skips no other line',
    { tags: ['compiler-stages:reading', 'compiler-stages:import'] },
    async () => {
      const { report } = await imported([
        HEADER,
        '{"kind":"message","payload":{"role":"user","content":"one"},"turn":1}',
        '',
        '{"kind":"message","payload":',
        '[1]',
        '{"payload":1}',
        '{"kind":"note"}',
      ]);
      expect(report.skipped).toEqual({ lines: 3 });
      expect(report.read).toEqual({ cycles: 1, message: 1, note: 1 });
      expect(report.warnings).toEqual([
        'skipped: line 4 ends in the middle of a value',
        'skipped: line 5 is no JSON object',
        'skipped: line 6 has no kind',
      ]);
    },
  );

  it(
    'makes a cycle of every turn, and of every repeated turn',
    { tags: ['compiler-stages:import'] },
    async () => {
      const line = (turn: string, content: string): string =>
        `{"kind":"message","payload":{"role":"user","content":"${content}"},"turn":${turn}}`;
      const { cycles } = await imported([
        HEADER,
        line('null', 'a'),
        line('1', 'b'),
        line('null', 'c'),
        line('2', 'd'),
        line('"x"', 'e'),
        line('1', 'f'),
      ]);
      const sizes = cycles.map((tree) => tree.kinds.filter((kind) => kind === NODE_KIND.block).length);
      expect(sizes).toEqual([3, 5, 6]);
    },
  );

  it(
    'keeps a line whose values a tree cannot hold as its text',
    { tags: ['compiler-stages:import', 'compiler-stages:numbers', 'compiler-stages:surrogates'] },
    async () => {
      const lines = [
        '{"kind":"tool_result","payload":{"content":1.0}}',
        '{"kind":"tool_call","payload":{"n":123456789012345678901234567890}}',
        '{"kind":"message","payload":{"role":"user","content":"a\\ud83d"}}',
        '{"kind":"message","payload":{"role":"user","__proto__":{"a":1},"content":"x"}}',
        `{"kind":"x","payload":${'['.repeat(400)}${']'.repeat(400)}}`,
      ];
      const blocks = blocksOf(await imported([HEADER, ...lines]));
      expect(blocks.map(({ payload }) => payload['data_line'])).toEqual(lines);
      expect(blocks.slice(0, 4).map(({ payload }) => payload['content'])).toEqual([
        1,
        { n: '123456789012345678901234567890' },
        'a\ufffd',
        'x',
      ]);
    },
  );

  it(
    'renames ids that Stemma reserves, and ids that no node can have',
    { tags: ['compiler-stages:import'] },
    async () => {
      const line = (id: string): string => `{"kind":"message","payload":{},"node_id":${JSON.stringify(id)}}`;
      const blocks = blocksOf(
        await imported([
          HEADER,
          line('root'),
          line('t:0:2'),
          line('line:2'),
          line('x'.repeat(600)),
          line('ok'),
        ]),
      );
      expect(blocks.map(({ id }) => id)).toEqual(['line:2', 'line:3', 'line:4', 'line:5', 'ok']);
      expect(eventOf(blocks[0] as Block)['node_id']).toBe('root');
    },
  );

  it(
    'gives the messages of a log back as a message list, without nodes that no model was shown',
    { tags: ['compiler-stages:import'] },
    async () => {
      const messages = [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Where?' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', content: 'there', tool_call_id: 'c' },
      ];
      const recorded = await imported([
        HEADER,
        ...messages.map((payload) => JSON.stringify({ kind: 'message', payload, turn: 1 })),
        '{"kind":"lifecycle","payload":{"type":"end"},"turn":1}',
      ]);
      expect(toOpenAIMessages(recorded.working, recorded.payloads)).toEqual(messages);
    },
  );

  it(
    'splits a long turn into several commands, and into the same ones each time',
    { tags: ['compiler-stages:import'] },
    async () => {
      const lines = Array.from(
        { length: 2500 },
        (_, at) => `{"kind":"message","payload":{"content":"${at}"},"turn":1}`,
      );
      const [once, twice] = [await imported([HEADER, ...lines]), await imported([HEADER, ...lines])];
      expect(once.commands.map(({ steps }) => steps.length)).toEqual([1001, 1000, 501]);
      expect(once.commands).toEqual(twice.commands);
      expect(once.cycles).toHaveLength(1);
    },
  );
});
