import { historyId } from '@stemma/history';
import { openHome } from '@stemma/home';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parquetReadObjects } from 'hyparquet';
import { keepHomeOpen, runStemma, temporaryFolder, type Run } from '../run-stemma.ts';
import { atifFile, cassette, chatLines, otlpFile } from './files.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());
const at = (name: string): string => join(folder.path, name);
const directory = at('home');
keepHomeOpen(directory);
const run = (...args: readonly string[]): Promise<Run> => runStemma([...args, '--home', directory]);

beforeAll(async () => {
  for (const [name, file, text] of [
    ['agent', 'agent.json', atifFile()],
    ['spans', 'spans.jsonl', otlpFile()],
    ['traffic', 'traffic.yaml', cassette()],
    ['chat', 'chat.jsonl', chatLines()],
  ] as const) {
    writeFileSync(at(file), text);
    expect((await run('import', at(file), '--history', name)).code).toBe(0);
  }
});

const bodyOf = async (...args: readonly string[]): Promise<Record<string, unknown>> => {
  const { code, stdout, stderr } = await run('export', ...args);
  expect([code, stderr.includes('E_')]).toEqual([0, false]);
  return JSON.parse(stdout) as Record<string, unknown>;
};

describe('a position as a request', () => {
  test('is the recorded bytes where it was called on that API, and says so', async () => {
    const { stdout, stderr } = await run('export', 'traffic', '@c1', '--format', 'openai');
    expect(stdout).toBe((await run('call', 'traffic', '@c1', '--raw', 'request')).stdout);
    expect(stderr).toBe('the recorded bytes of @c1\n');
  });

  test('is written from the thread for any other API, and what that cannot hold is named by count', async () => {
    const { stdout, stderr } = await run('export', 'agent', '@c2', '--format', 'openai');
    expect(stderr).toBe('written from the thread of @c2\nlost: mark of a failed result ×1, thinking ×1\n');
    expect(JSON.parse(stdout)).toMatchObject({
      model: 'gpt-y',
      messages: [{ role: 'system' }, { role: 'user' }, {}, {}, {}],
    });
    expect(await bodyOf('agent', '@c2', '--format', 'anthropic')).toMatchObject({
      system: 'You help.',
      max_tokens: 4096,
    });
    expect(await bodyOf('agent', '@c2', '--format', 'responses')).toMatchObject({
      instructions: 'You help.',
    });
    expect(await bodyOf('agent', '@c2', '--format', 'gemini')).toMatchObject({ contents: [{}, {}, {}] });
  });

  test('asks another model if one is named, and has the tools that an imported file said', async () => {
    expect(await bodyOf('traffic', '@c1', '--format', 'openai', '--model', 'gpt-z')).toMatchObject({
      model: 'gpt-z',
    });
    expect(await bodyOf('chat', '--format', 'openai', '--model', 'gpt-z')).toMatchObject({
      tools: [{ type: 'function' }],
    });
    expect((await run('export', 'chat', '--format', 'openai')).stderr).toContain('name one with --model');
  });

  test('is that of a call, by its id', async () => {
    const calls = JSON.parse((await run('calls', 'traffic', '--json')).stdout) as readonly {
      readonly attempt_id: string;
    }[];
    const id = calls[1]?.attempt_id ?? '';
    expect((await run('export', 'traffic', id, '--format', 'openai')).stdout).toBe(
      (await run('call', 'traffic', id, '--raw', 'request')).stdout,
    );
  });
});

describe('a history in the format of another program', () => {
  test('has the same bytes in a file, which only its owner reads, and whenever it is exported', async () => {
    const file = at('trajectory.json');
    const { stdout } = await run('export', 'agent', '--format', 'atif', '-o', file, '--json');
    const bytes = readFileSync(file);
    expect(JSON.parse(stdout)).toEqual({ format: 'atif', files: [{ file, bytes: bytes.length }], lost: {} });
    expect((await run('export', 'agent', '--format', 'atif')).stdout).toBe(bytes.toString());
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder.path).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('is one branch if one is named, and each call is counted once', async () => {
    const all = JSON.parse((await run('export', 'spans', '--format', 'atif')).stdout) as readonly {
      readonly steps: readonly { readonly metrics?: object; readonly is_copied_context?: boolean }[];
    }[];
    const called = all.map(
      ({ steps }) =>
        steps.filter((step) => step.metrics !== undefined && step.is_copied_context !== true).length,
    );
    expect(called).toEqual([2, 1]);
    const histories = JSON.parse((await run('histories', '--json')).stdout) as readonly {
      readonly name: string;
      readonly branches: readonly { readonly branch: string }[];
    }[];
    const branches = histories.find(({ name }) => name === 'spans')?.branches ?? [];
    const alone = (await run('export', branches[1]?.branch ?? '', '--format', 'otlp')).stdout
      .trim()
      .split('\n');
    expect(alone.map((line) => /Nine metres|Seven metres|I look/.exec(line)?.[0])).toEqual([
      'I look',
      'I look',
    ]);
    expect(alone[1]).toContain('Nine metres.');
  });

  test('is two tables in Parquet: a row a call, a row a message, null where nobody knows', async () => {
    const { stdout } = await run(
      'export',
      'spans',
      '--format',
      'parquet',
      '-o',
      at('spans.parquet'),
      '--json',
    );
    expect(JSON.parse(stdout)).toMatchObject({
      files: [{ file: at('spans.calls.parquet') }, { file: at('spans.messages.parquet') }],
    });
    const rows = async (name: string): Promise<readonly Record<string, unknown>[]> => {
      const bytes = readFileSync(at(name));
      return parquetReadObjects({ file: new Uint8Array(bytes).buffer });
    };
    const calls = await rows('spans.calls.parquet');
    expect(
      calls.map((row) => [
        row['branch'],
        row['label'],
        row['input_tokens'],
        row['shown_messages'],
        row['answer'],
      ]),
    ).toEqual([
      ['main', '@c1', 21n, 2n, 'I look.'],
      ['main', '@c2', 22n, 4n, 'Seven metres.'],
      [expect.any(String), '@c2', 23n, 4n, 'Nine metres.'],
    ]);
    expect(calls[0]).toMatchObject({
      started_at: new Date('2026-09-01T10:00:01Z'),
      ...{
        model: 'gpt-x',
        duration_ms: 250n,
        tool_calls: 1n,
        fidelity: 'same',
        parameters: '{"max_tokens":100}',
      },
    });
    expect(calls[0]?.['error'] ?? null).toBeNull();
    const messages = await rows('spans.messages.parquet');
    expect(
      messages.map((row) => [
        row['number'],
        row['role'],
        row['text'],
        row['thinking'] ?? null,
        row['tool_name'] ?? null,
      ]),
    ).toEqual([
      [0n, 'system', 'You help.', null, null],
      [1n, 'user', 'How deep is it at pier 2?', null, null],
      [2n, 'assistant', 'I look.', 'A tool knows.', null],
      [3n, 'tool', '7 m', null, 'depth'],
      [4n, 'assistant', 'Seven metres.', null, null],
      [3n, 'tool', '9 m', null, 'depth'],
      [4n, 'assistant', 'Nine metres.', null, null],
    ]);
    const refused = await run('export', 'spans', '--format', 'parquet');
    expect([refused.code, refused.stderr]).toEqual([64, expect.stringContaining('name the file')]);
  });

  test('says each message of a log of Inspect once, and counts what it loses once', async () => {
    const file = at('odd.json');
    const odd = { role: 'user', content: 'Odd.', tint: 'red' };
    const said = [
      odd,
      { role: 'assistant', content: 'Yes.' },
      odd,
      { role: 'assistant', content: 'Again.', hue: 'blue' },
    ];
    writeFileSync(file, JSON.stringify([...said, odd, { role: 'assistant', content: 'No.' }]));
    expect((await run('import', file, '--history', 'odd')).code).toBe(0);
    const { stdout, stderr } = await run('export', 'odd', '--format', 'inspect');
    const [sample] = (
      JSON.parse(stdout) as {
        samples: [{ events_data: { messages: object[] }; events: { input_refs: unknown }[] }];
      }
    ).samples;
    expect(sample.events_data.messages).toHaveLength(3);
    expect(sample.events.map((event) => event.input_refs)).toEqual([
      [[0, 1]],
      [
        [0, 2],
        [0, 1],
      ],
      [
        [0, 2],
        [0, 1],
        [2, 3],
        [0, 1],
      ],
    ]);
    expect(stderr).toBe('lost: field hue of a message ×1, field tint of a message ×3\n');
  });

  test('names calls without bytes that a cassette cannot hold', async () => {
    const { code, stdout, stderr } = await run('export', 'spans', '--format', 'vcr');
    expect([code, stdout]).toEqual([0, 'interactions: []\nversion: 1\n']);
    expect(stderr).toBe('lost: call without the bytes of its request ×3\n');
  });

  test('is refused with a position, in a format that there is not, and in a folder that there is not', async () => {
    for (const [words, message] of [
      [['spans', '@c1', '--format', 'otlp'], 'takes no position'],
      [['spans', '--format', 'cobol'], '--format is "cobol", not one of pact'],
      [['spans', '--format', 'otlp', '--model', 'm'], 'takes no --model'],
      [['spans', '--format', 'otlp', '-o', at('none/x.jsonl')], 'E_IO'],
    ] as const) {
      const refused = await run('export', ...words);
      expect([refused.code, refused.stderr]).toEqual([expect.any(Number), expect.stringContaining(message)]);
      expect(refused.code).not.toBe(0);
    }
  });
});

test('a call between snapshots and one without messages are named, as no format of calls has them', async () => {
  const home = await openHome({ directory: at('between'), create: true });
  const history = historyId('between', '');
  type Step = Parameters<typeof home.submit>[0]['steps'][number];
  let number = 0;
  const send = (...steps: Step[]) =>
    home.submit({ id: `c${number++}`, history, branchId: 0, by: { recorder: 'test' }, steps });
  const says = (id: string): Step => {
    const node = { id, nodeType: 'cb', role: 'user', data_text: id };
    return { op: 'insert', parent: '^ah', node };
  };
  const nothing = { toolsAt: null, request: null, own: null };
  const call: Step = { op: 'start_call', api: 'other', model: 'm', parameters: {}, tools: null, ...nothing };
  await send({ op: 'start', name: 'between' });
  await send(says('one'));
  await send(call);
  await send(says('two'));
  await send({ op: 'commit' }, call);
  const sent = { at: 1, origin: null, path: '/v1/embeddings', contentType: null, coding: null };
  const bodies = { request: null, response: null, head: null, withheld: [] };
  const end = { httpStatus: 200, firstByteMs: 1, durationMs: 2, usage: null, error: null };
  await send({
    op: 'record_provider_call',
    run: 'a',
    method: 'POST',
    model: null,
    sent,
    status: 'answered',
    ...end,
    ...bodies,
  });
  await home.close();
  for (const format of ['inspect', 'otlp', 'chat-jsonl', 'parquet']) {
    const to = at(`between.${format}`);
    const { stdout } = await runStemma([
      ...['export', 'between', '--format', format, '-o', to, '--json', '--home', at('between')],
    ]);
    expect(JSON.parse(stdout), format).toMatchObject({
      lost: { 'call between snapshots': 1, 'call without messages': 1 },
    });
  }
});
