import { describe, expect, it } from 'vitest';
import { readImport, type ImportItem } from '../../src/read-import.ts';
import { sourceOf } from '../in-memory.ts';

type Line = Record<string, unknown>;

let clock = 0;
const line = (type: string, payload: Line): Line => ({
  timestamp: new Date(1_800_000_000_000 + clock++ * 1000).toISOString(),
  type,
  payload,
});
const meta = line('session_meta', { id: 'session-1', cli_version: '0.144.0', instructions: 'Be brief.' });
const person = (text: string): Line => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
});
const says = (text: string): Line => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text }],
});
const call = (id: string): Line => ({ type: 'function_call', name: 'shell', arguments: '{}', call_id: id });
const result = (id: string): Line => ({ type: 'function_call_output', call_id: id, output: 'bed A' });
const thinks: Line = { type: 'reasoning', summary: [], encrypted_content: 'g' };
const item = (payload: Line): Line => line('response_item', payload);
const total = (input: number, output: number, last?: number): Line =>
  line('event_msg', {
    type: 'token_count',
    info: {
      total_token_usage: { input_tokens: input, output_tokens: output },
      ...(last !== undefined && { last_token_usage: { input_tokens: last, output_tokens: 1 } }),
    },
  });

const text = (lines: readonly Line[]): string => lines.map((each) => `${JSON.stringify(each)}\n`).join('');
const imported = async (file: string): Promise<readonly ImportItem[]> => {
  const found: ImportItem[] = [];
  for await (const each of readImport(sourceOf(file))) found.push(each);
  return found;
};
const commandsOf = async (file: string) =>
  (await imported(file)).flatMap((item) => (item.kind === 'command' ? [item.command] : []));
const reportOf = async (file: string) => {
  const [report, more] = (await imported(file)).flatMap((each) =>
    each.kind === 'report' ? [each.report] : [],
  );
  if (report === undefined || more !== undefined) throw new Error('there is not one conversation');
  return report;
};

const plain = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

describe('rollouts of Codex', () => {
  it('a response is what the model makes in one go, and events that repeat items are counted apart', async () => {
    const lines = [
      meta,
      item(person('List the beds.')),
      line('event_msg', { type: 'user_message', message: 'List the beds.' }),
      line('turn_context', { model: 'gpt-x', effort: 'high' }),
      item(thinks),
      item(call('c1')),
      item(result('c1')),
      total(100, 20),
      total(100, 20),
      item(says('One bed.')),
      total(250, 30),
    ];
    const { summary, version, title } = await reportOf(text(lines));
    expect({ version, title }).toEqual({ version: '0.144.0', title: 'List-the-beds' });
    expect(summary).toMatchObject({
      calls: 2,
      models: { 'gpt-x': 2 },
      messages_by_role: { assistant: 2, system: 1, tool: 1, user: 1 },
      tool_calls: 1,
      tool_results: 1,
      thinking: 1,
      usage: { input: 250, output: 30 },
      missing: { tools: 2 },
      first_at: lines[0]?.['timestamp'],
      last_at: lines.at(-1)?.['timestamp'],
      dropped: { 'event user_message': 1 },
    });
  });

  it('totals tell responses apart that follow each other, also where the total falls back', async () => {
    const lines = [
      meta,
      item(person('Go.')),
      item(says('One.')),
      total(100, 10),
      item(says('Two.')),
      total(40, 5),
      total(90, 9, 50),
    ];
    expect((await reportOf(text(lines))).summary).toMatchObject({
      calls: 3,
      usage: { input: 190 },
      missing: { answer: 1 },
    });
  });

  it('turns that a person takes back are a branch that was left: what comes next follows what stood before them', async () => {
    const back = (count: unknown): Line =>
      line('event_msg', { type: 'thread_rolled_back', num_turns: count });
    const turn = (asked: string, answer: string): readonly Line[] => [
      item(person(asked)),
      item(says(answer)),
    ];
    const lines = [meta, ...turn('One?', '1'), ...turn('Two?', '2'), ...turn('Three?', '3')];
    const { summary } = await reportOf(text([...lines, back(2), ...turn('Other?', '4'), back('x')]));
    expect(summary).toMatchObject({ calls: 4, branches: 1, dropped: { 'event thread_rolled_back': 1 } });
    const commands = await commandsOf(text([...lines, back(2), ...turn('Other?', '4')]));
    const at = commands.findIndex(({ steps }) => steps[0]?.op === 'fork');
    const second = commands.findIndex(({ steps }) => JSON.stringify(steps, plain).includes('Two?'));
    // The end of the call stands between: it changes nothing that is shown.
    expect(commands[at]?.steps[0]).toMatchObject({ op: 'fork', at: { branchId: 0, seq: second - 2 } });
    expect(new Set(commands.slice(at + 1).map(({ branchId }) => branchId))).toEqual(new Set([at]));
    const all = await commandsOf(text([...lines, back(9), ...turn('Anew?', '5')]));
    expect(all.some(({ steps }) => steps[0]?.op === 'fork')).toBe(true);
  });

  it('custom calls, shells, an aborted turn and a compaction are what they are', async () => {
    const lines = [
      meta,
      item(person('Go.')),
      item({ type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '***' }),
      item({
        type: 'local_shell_call',
        call_id: 'c2',
        status: 'completed',
        action: { type: 'exec', command: ['ls'] },
      }),
      item({ type: 'custom_tool_call_output', call_id: 'c1', output: 'ok' }),
      item(result('c2')),
      line('compacted', { message: 'Beds were listed.' }),
      item(person('And now?')),
      item(says('No')),
      line('event_msg', { type: 'turn_aborted', reason: 'interrupted' }),
    ];
    expect((await reportOf(text(lines))).summary).toMatchObject({
      calls: 2,
      tool_calls: 2,
      tool_results: 2,
      tool_calls_without_result: 0,
      tool_results_without_call: 0,
      compactions: 1,
      aborted: 1,
    });
  });

  it('a response is of the model that was asked for it, though the next turn has another one', async () => {
    const lines = [
      meta,
      line('turn_context', { model: 'gpt-x', effort: 'high' }),
      item(person('Go.')),
      item(says('One.')),
      total(100, 10),
      line('turn_context', { model: 'gpt-y', effort: 'low' }),
      item(person('And now?')),
      item(says('Two.')),
      total(200, 20),
    ];
    expect((await reportOf(text(lines))).summary).toMatchObject({ models: { 'gpt-x': 1, 'gpt-y': 1 } });
  });

  it('what a compaction leaves is shown once more, and counts once', async () => {
    const lines = [
      meta,
      item(person('Go.')),
      item(says('One.')),
      total(100, 10),
      line('compacted', {
        message: '',
        replacement_history: [person('Go.'), says('One.'), person('Beds were listed.')],
      }),
      item(person('And now?')),
      item(says('Two.')),
      total(200, 20),
    ];
    const items = await imported(text(lines));
    const inserted = items.flatMap((each) =>
      each.kind === 'command' ? each.command.steps.filter(({ op }) => op === 'insert') : [],
    );
    expect(inserted).toHaveLength(8);
    expect((await reportOf(text(lines))).summary).toMatchObject({
      messages_by_role: { assistant: 2, system: 1, user: 3 },
      compactions: 1,
    });
  });

  it('a rollout that grew gives the same commands and some more, also where it ended in the middle of a response', async () => {
    const lines = [
      meta,
      line('event_msg', { type: 'token_count', info: null }),
      item(person('Go.')),
      item(thinks),
      item(call('c1')),
      total(100, 10),
      item(result('c1')),
      item(thinks),
      item(says('Two.')),
      total(200, 20),
    ];
    const idsOf = async (count: number) =>
      (await commandsOf(text(lines.slice(0, count)))).map(({ id }) => id);
    const whole = await idsOf(lines.length);
    for (let count = 3; count < lines.length; count++) {
      const part = await idsOf(count);
      expect(whole.slice(0, part.length), `${count} lines`).toEqual(part);
    }
    expect((await reportOf(text(lines.slice(0, 8)))).summary).toMatchObject({
      calls: 2,
      dropped: { 'items of a response that is still coming': 1 },
    });
  });

  it('what a response says last is recorded, also if its total is not there yet', async () => {
    const lines = [
      meta,
      item(person('Go.')),
      item(call('c1')),
      item(result('c1')),
      total(100, 10),
      item(says('Two.')),
    ];
    const callsOf = async (all: readonly Line[]) =>
      (await imported(text(all))).flatMap((each) =>
        each.kind === 'command' && each.command.steps.some(({ op }) => op === 'start_call')
          ? [each.command.id]
          : [],
      );
    const before = await callsOf(lines);
    expect(before).toHaveLength(2);
    expect(await callsOf([...lines, total(200, 20)])).toEqual(before);
  });

  it('old rollouts have the items on the lines', async () => {
    const flat = [
      { id: 'session-2', timestamp: '2025-06-01T10:00:00.000Z', instructions: null, git: null },
      { record_type: 'state' },
      person('List.'),
      thinks,
      call('c1'),
      result('c1'),
      says('One.'),
    ];
    const { summary } = await reportOf(text(flat));
    expect(summary).toMatchObject({ calls: 2, messages: 4, tool_calls: 1, missing: { usage: 2 } });
    expect(summary.usage).toBeUndefined();
  });

  it('what is damaged or strange is said, and the rest is read', async () => {
    const lines = [
      item(7 as never),
      line('response_item', { type: 'message', role: 'user', content: null }),
      line('response_item', { type: 'message', role: 7, content: {} }),
      line('response_item', {}),
      line('event_msg', { type: 'token_count', info: { total_token_usage: { input_tokens: 'many' } } }),
      line('event_msg', { type: 'token_count', info: null }),
      line('compacted', { replacement_history: [null, 7, {}] }),
      line('session_meta', { id: 'another' }),
    ].filter(({ payload }) => typeof payload === 'object');
    const { summary } = await reportOf(
      `${text([meta, item(person('Go.')), item(says('One.'))])}{"x"\n${text(lines)}{"timestamp":"2026`,
    );
    expect(summary.calls).toBeGreaterThanOrEqual(1);
    expect(summary.dropped).toMatchObject({ 'line session_meta': 1 });
  });

  it('rollouts of any shape come back as they were made', async () => {
    for (let seed = 1; seed <= 40; seed++) {
      let random = seed;
      const below = (most: number): number => {
        random = (random * 48_271) % 2_147_483_647;
        return random % most;
      };
      const lines: Line[] = [meta];
      const wanted = { calls: 0, tool_calls: 0, tool_results: 0, input: 0 };
      for (let turn = 0; turn < 5; turn++) {
        lines.push(item(person(`Question ${turn}`)));
        const steps = 1 + below(3);
        for (let step = 0; step < steps; step++) {
          const uses = below(3);
          wanted.calls += 1;
          wanted.tool_calls += uses;
          wanted.tool_results += uses;
          wanted.input += 10 + step;
          const count = total(wanted.input, wanted.calls);
          if (below(2) === 0) lines.push(item(thinks));
          if (uses === 0) lines.push(item(says(`${turn}-${step}`)));
          for (let n = 0; n < uses; n++) lines.push(item(call(`${turn}-${step}-${n}`)));
          const isFirst = below(2) === 0;
          if (isFirst) lines.push(count);
          for (let n = 0; n < uses; n++) lines.push(item(result(`${turn}-${step}-${n}`)));
          if (!isFirst) lines.push(count);
          if (below(4) === 0) lines.push(count);
        }
      }
      const { input, ...counts } = wanted;
      expect((await reportOf(text(lines))).summary, `seed ${seed}`).toMatchObject({
        ...counts,
        usage: { input },
        tool_calls_without_result: 0,
        tool_results_without_call: 0,
      });
    }
  });
});
