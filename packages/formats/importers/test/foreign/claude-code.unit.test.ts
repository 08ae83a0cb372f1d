import { hashOfTold } from '@stemma/model-apis';
import { describe, expect, it } from 'vitest';
import type { ForeignItem } from '../../src/foreign/item.ts';
import { readImport, type ImportItem } from '../../src/read-import.ts';
import { claudeCode } from '../../src/foreign/claude-code/reader.ts';
import type { Unit } from '../../src/importer.ts';
import { sourceOf } from '../in-memory.ts';

type Line = Record<string, unknown>;

const SESSION = 'session-1';
let clock = 0;
const line = (type: string, uuid: string, parentUuid: string | null, more: Line = {}): Line => ({
  type,
  uuid,
  parentUuid,
  sessionId: SESSION,
  version: '2.1.7',
  isSidechain: false,
  timestamp: new Date(1_800_000_000_000 + clock++ * 1000).toISOString(),
  ...more,
});
const prompt = (uuid: string, parent: string | null, content: unknown, more: Line = {}): Line =>
  line('user', uuid, parent, { message: { role: 'user', content }, ...more });
const answer = (uuid: string, parent: string, id: string, block: Line, usage: Line = {}): Line =>
  line('assistant', uuid, parent, {
    message: { role: 'assistant', id, model: 'claude-x', content: [block], stop_reason: null, usage },
  });
const say = (text: string): Line => ({ type: 'text', text });
const use = (id: string): Line => ({ type: 'tool_use', id, name: 'Read', input: { file: id } });
const result = (id: string, more: Line = {}): Line => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'bed A',
  ...more,
});

const text = (lines: readonly Line[]): string => lines.map((each) => `${JSON.stringify(each)}\n`).join('');
const imported = async (file: string): Promise<readonly ImportItem[]> => {
  const found: ImportItem[] = [];
  for await (const item of readImport(sourceOf(file))) found.push(item);
  return found;
};
const commandsOf = async (file: string) =>
  (await imported(file)).flatMap((item) => (item.kind === 'command' ? [item.command] : []));
const summaryOf = async (file: string) => {
  const reports = (await imported(file)).flatMap((item) => (item.kind === 'report' ? [item.report] : []));
  const [report] = reports;
  if (report === undefined) throw new Error('there is no conversation');
  return { ...report.summary, conversations: reports.length, version: report.version };
};
const itemsOf = async (lines: readonly Line[]): Promise<readonly ForeignItem[]> => {
  async function* units(): AsyncIterable<Unit> {
    for (const [i, each] of lines.entries())
      yield await Promise.resolve({ where: `line ${i + 1}`, text: '', value: each as never, line: i + 1 });
  }
  const found: ForeignItem[] = [];
  for await (const item of claudeCode.read(units())) found.push(item);
  return found;
};

describe('sessions of Claude Code', () => {
  it('the lines of one answer are one call, and the usage of the last one counts', async () => {
    const lines = [
      prompt('u1', null, 'Count the beds.'),
      answer(
        'a1',
        'u1',
        'msg_1',
        { type: 'thinking', thinking: 'Look.', signature: 's' },
        { input_tokens: 20, output_tokens: 1 },
      ),
      answer('a2', 'a1', 'msg_1', use('t1'), {
        input_tokens: 20,
        cache_read_input_tokens: 100,
        output_tokens: 37,
      }),
      prompt('u2', 'a2', [result('t1')]),
      answer('a3', 'u2', 'msg_2', say('Three.'), { input_tokens: 70, output_tokens: 9 }),
    ];
    expect(await summaryOf(text(lines))).toMatchObject({
      calls: 2,
      models: { 'claude-x': 2 },
      messages: 4,
      messages_by_role: { assistant: 2, user: 2 },
      tool_calls: 1,
      tool_results: 1,
      thinking: 1,
      usage: { input: 90, output: 46, cached_input: 100 },
      branches: 0,
      fidelity: { reconstructed: 2 },
      missing: { 'system prompt': 2, tools: 2, parameters: 2 },
      version: '2.1.7',
    });
  });

  it('results of tools that ran while the answer was coming stand behind it', async () => {
    const items = await itemsOf([
      prompt('u1', null, 'Count.'),
      answer('a1', 'u1', 'msg_1', use('t1')),
      prompt('u2', 'a1', [result('t1')]),
      answer('a2', 'a1', 'msg_1', use('t2')),
      prompt('u3', 'a2', [result('t2', { is_error: true })]),
      answer('a3', 'u3', 'msg_2', say('Done.')),
    ]);
    expect(items.map(({ kind }) => kind).filter((kind) => kind !== 'time')).toEqual([
      'conversation',
      'message',
      'call',
      'message',
      'message',
      'call',
    ]);
  });

  it('two prompts behind one message are a branch, and a session goes on where its lines say', async () => {
    const lines = [
      prompt('u1', null, 'One.'),
      answer('a1', 'u1', 'msg_1', say('1')),
      prompt('u2', 'a1', 'Two.'),
      answer('a2', 'u2', 'msg_2', say('2')),
      prompt('u3', 'a1', 'Two, please.'),
      answer('a3', 'u3', 'msg_3', say('2!')),
      prompt('u4', 'a2', 'Three.'),
      answer('a4', 'u4', 'msg_4', say('3')),
    ];
    expect(await summaryOf(text(lines))).toMatchObject({ calls: 4, branches: 1, messages: 8 });
    const commands = await commandsOf(text(lines));
    const forks = commands.filter(({ steps: [first] }) => first?.op === 'fork');
    expect(forks).toHaveLength(1);
    const last = commands.at(-1);
    expect(last?.branchId).toBe(0);
  });

  it('the earliest and the latest time of the file count, of whatever line, and so does what stands before the first message', async () => {
    const beside = (uuid: string, parent: string | null, timestamp: string): Line => ({
      ...line('progress', uuid, parent),
      timestamp,
    });
    const lines = [
      beside('p1', null, '2020-01-01T00:00:00.000Z'),
      prompt('u1', 'p1', 'One.'),
      answer('a1', 'u1', 'msg_1', say('1')),
      beside('p2', 'a1', '2040-01-01T00:00:00.000Z'),
    ];
    expect(await summaryOf(text(lines))).toMatchObject({
      first_at: '2020-01-01T00:00:00.000Z',
      last_at: '2040-01-01T00:00:00.000Z',
      dropped: { 'line progress': 2 },
    });
  });

  it('a boundary, and in old versions a summary alone, removes what stood before', async () => {
    const summary = prompt('u3', 'b1', 'It was about beds.', { isCompactSummary: true });
    const before = [prompt('u1', null, 'One.'), answer('a1', 'u1', 'msg_1', say('1'))];
    const boundary = line('system', 'b1', null, { subtype: 'compact_boundary', logicalParentUuid: 'a1' });
    for (const lines of [
      [...before, boundary, summary],
      [...before, summary],
    ]) {
      const commands = await commandsOf(text(lines));
      expect(commands.flatMap(({ steps }) => steps.filter(({ op }) => op === 'remove'))).toHaveLength(2);
      expect(await summaryOf(text(lines))).toMatchObject({ compactions: 1 });
    }
  });

  it('sub-agents are conversations of their own, and what they are told first may tell their call', async () => {
    const task = { type: 'tool_use', id: 't1', name: 'Task', input: { prompt: 'Count the beds.' } };
    const lines = [
      prompt('u1', null, 'How many?'),
      answer('a1', 'u1', 'msg_1', task),
      prompt('s1', null, 'Count the beds.', { isSidechain: true }),
      { ...answer('s2', 's1', 'msg_2', say('Three.')), isSidechain: true },
      prompt('u2', 'a1', [result('t1')]),
    ];
    const reports = (await imported(text(lines))).flatMap((item) =>
      item.kind === 'report' ? [item.report] : [],
    );
    expect(reports.map(({ links, summary }) => [links, summary.sidechains, summary.calls])).toEqual([
      [undefined, 0, 1],
      [
        {
          ...{ key: `${SESSION}:s1`, parent: { key: SESSION }, started: [] },
          told: [hashOfTold('Count the beds.')],
        },
        1,
        1,
      ],
    ]);
  });

  it('a result that names its sub-agent says which call started it, and so does its progress', async () => {
    const progress = { parentToolUseID: 't2', data: { type: 'agent_progress', agentId: 'b2' } };
    const items = await itemsOf([
      prompt('u1', null, 'How many?'),
      answer('a1', 'u1', 'msg_1', use('t1')),
      line('progress', 'p1', 'a1', progress),
      line('progress', 'p2', 'p1', progress),
      prompt('u2', 'a1', [result('t1')], { toolUseResult: { agentId: 'a7', content: [] } }),
      prompt('u3', 'u2', [result('t3'), result('t4')], { toolUseResult: { agentId: 'c3' } }),
    ]);
    expect(items.filter(({ kind }) => kind === 'sub-agent')).toEqual([
      { kind: 'sub-agent', key: `${SESSION}:b2`, toolCall: 't2' },
      { kind: 'sub-agent', key: `${SESSION}:a7`, toolCall: 't1' },
    ]);
  });

  it('a file that grew gives the same commands and some more', async () => {
    const lines = [
      prompt('u1', null, 'One.'),
      answer('a1', 'u1', 'msg_1', say('1')),
      prompt('u2', 'a1', 'Two.'),
      answer('a2', 'u2', 'msg_2', say('2')),
      prompt('u3', 'a1', 'Two, please.'),
      answer('a3', 'u3', 'msg_3', say('2!')),
    ];
    const idsOf = async (count: number) =>
      (await commandsOf(text(lines.slice(0, count)))).map(({ id }) => id);
    const whole = await idsOf(lines.length);
    for (let count = 1; count < lines.length; count++) {
      const part = await idsOf(count);
      expect(whole.slice(0, part.length)).toEqual(part);
    }
  });

  it('a file that ends in the middle of an answer gives the same commands too, but for the end of its call', async () => {
    const lines = [
      prompt('u1', null, 'Look.'),
      answer('a1', 'u1', 'msg_1', { type: 'thinking', thinking: 'Look.', signature: 's' }),
      answer('a2', 'a1', 'msg_1', say('I look.')),
      answer('a3', 'a2', 'msg_1', use('t1')),
      answer('a4', 'a3', 'msg_1', use('t2')),
      prompt('u2', 'a4', [result('t1'), result('t2')]),
    ];
    const idsOf = async (count: number) =>
      (await commandsOf(text(lines.slice(0, count)))).map(({ id }) => id);
    const whole = await idsOf(lines.length);
    const [end] = whole.filter((id) => id.endsWith('.finished'));
    for (let count = 2; count < lines.length; count++) {
      const part = await idsOf(count);
      expect(part.at(-1)).toBe(end);
      expect(whole.slice(0, part.length - 1)).toEqual(part.slice(0, -1));
    }
  });

  it('what is damaged, cut or strange is said, and the rest is read', async () => {
    const good = text([prompt('u1', null, 'One.'), answer('a1', 'u1', 'msg_1', say('1'))]);
    const odd = [
      prompt('u2', 'nowhere', 'Two.'),
      prompt('u2', 'a1', 'Twice.'),
      prompt('u3', 'u2', 7),
      prompt('u4', 'u3', [null, 7, { type: 'tool_result', tool_use_id: 'none', content: null }]),
      line('assistant', 'a5', 'u4', {
        message: { role: 'assistant', model: '<synthetic>', content: 'API Error' },
      }),
      line('assistant', 'a6', 'u4', {
        message: { role: 'assistant', id: 'msg_9', model: 7, content: null, usage: { input_tokens: -1 } },
      }),
      { type: 'queue-operation', operation: 'enqueue', sessionId: SESSION },
      { type: 'attachment', uuid: 'x1', parentUuid: 'a6', sessionId: SESSION, attachment: {} },
    ];
    const summary = await summaryOf(`${good}{"broken"\n${text(odd)}{"type":"user","uu`);
    expect(summary).toMatchObject({ calls: 2, dropped: { 'line attachment': 1 } });
    expect(new Set(summary.warnings?.map(({ code }) => code))).toEqual(
      new Set(['W_LINE_CUT', 'W_LINE_DAMAGED', 'W_PARENT_MISSING', 'W_REPEATED']),
    );
  });

  it('sessions of any shape come back as they were made', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      let random = seed;
      const below = (most: number): number => {
        random = (random * 48_271) % 2_147_483_647;
        return random % most;
      };
      const lines: Line[] = [];
      const wanted = { calls: 0, tool_calls: 0, tool_results: 0, branches: 0, input: 0 };
      const ends: string[] = [];
      const asked = new Set<string>();
      let tip: string | null = null;
      for (let turn = 0; turn < 6; turn++) {
        const from: string | null =
          ends.length > 0 && below(3) === 0 ? (ends[below(ends.length)] as string) : tip;
        if (asked.has(String(from))) wanted.branches += 1;
        asked.add(String(from));
        lines.push(prompt(`u${turn}`, from, `Question ${turn}`));
        tip = `u${turn}`;
        for (let step = 0; step <= below(3); step++) {
          const id = `${turn}-${step}`;
          const uses = below(3);
          wanted.calls += 1;
          wanted.tool_calls += uses;
          wanted.tool_results += uses;
          wanted.input += 10;
          lines.push(answer(`a${id}`, tip, `msg_${id}`, say(id), { input_tokens: 1 }));
          let last = `a${id}`;
          for (let n = 0; n < uses; n++) {
            lines.push(answer(`a${id}-${n}`, last, `msg_${id}`, use(`t${id}-${n}`), { input_tokens: 10 }));
            last = `a${id}-${n}`;
          }
          if (uses === 0) (lines.at(-1) as { message: { usage: Line } }).message.usage = { input_tokens: 10 };
          tip = last;
          for (let n = 0; n < uses; n++) {
            lines.push(prompt(`r${id}-${n}`, `a${id}-${n}`, [result(`t${id}-${n}`)]));
            tip = `r${id}-${n}`;
          }
        }
        ends.push(tip);
      }
      const { input, ...counts } = wanted;
      expect(await summaryOf(text(lines)), `seed ${seed}`).toMatchObject({
        ...counts,
        usage: { input },
        tool_calls_without_result: 0,
        tool_results_without_call: 0,
      });
    }
  });
});
