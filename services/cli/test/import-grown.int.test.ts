import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { keepHomeOpen, stemmaJson, temporaryFolder } from './run-stemma.ts';

const folder = temporaryFolder();
const directory = join(folder.path, 'home');
afterAll(() => folder[Symbol.dispose]());
keepHomeOpen(directory);
const home = ['--home', directory];

type Line = Record<string, unknown>;
type Imported = { readonly imported: readonly { readonly history: string; readonly repeated: boolean }[] };

type Snapshot = { readonly treeHash: string };
type Call = { readonly status: string };

/** Claude Code writes a line for each block of an answer. */
const session = (id: string): readonly Line[] => {
  const line = (number: number, type: string, parent: number | null, message: Line): Line => ({
    ...{ type, uuid: `l${number}`, parentUuid: parent === null ? null : `l${parent}` },
    ...{ sessionId: id, version: '2.1.7', isSidechain: false, message },
    timestamp: new Date(1_800_000_000_000 + number * 1000).toISOString(),
  });
  const person = (number: number, parent: number | null, content: unknown): Line =>
    line(number, 'user', parent, { role: 'user', content });
  const says = (number: number, answer: string, block: Line): Line =>
    line(number, 'assistant', number - 1, {
      ...{ role: 'assistant', id: answer, model: 'claude-x', content: [block], stop_reason: null },
      usage: { input_tokens: 10, output_tokens: number },
    });
  const use = (tool: string): Line => ({ type: 'tool_use', id: tool, name: 'Read', input: { bed: tool } });
  const result = (tool: string): Line => ({ type: 'tool_result', tool_use_id: tool, content: 'tulips' });
  return [
    person(0, null, 'How many beds are there?'),
    says(1, 'm1', { type: 'thinking', thinking: 'I look.', signature: 's' }),
    says(2, 'm1', { type: 'text', text: 'I look at two.' }),
    says(3, 'm1', use('t1')),
    says(4, 'm1', use('t2')),
    person(5, 4, [result('t1')]),
    person(6, 5, [result('t2')]),
    says(7, 'm2', { type: 'thinking', thinking: 'Two.', signature: 's' }),
    says(8, 'm2', { type: 'text', text: 'Two.' }),
    person(9, 8, 'And trees?'),
    says(10, 'm3', { type: 'text', text: 'None.' }),
  ];
};

it('a session that is imported in the middle of an answer goes on as if it had been imported when it was whole', async () => {
  const take = async (name: string, lines: readonly Line[]) => {
    const file = join(folder.path, `${name}.jsonl`);
    writeFileSync(file, lines.map((each) => `${JSON.stringify(each)}\n`).join(''));
    const found = (await stemmaJson(['import', file, '--json', ...home])) as Imported;
    const [{ history, repeated } = { history: '', repeated: false }] = found.imported;
    const snapshots = (await stemmaJson(['snapshots', history, '--json', ...home])) as readonly Snapshot[];
    const listed = (await stemmaJson(['calls', history, '--json', ...home])) as readonly Call[];
    return {
      repeated,
      trees: snapshots.map(({ treeHash }) => treeHash),
      ends: listed.map((call) => call.status),
    };
  };
  const whole = await take('whole', session('whole'));
  expect(whole.ends).toEqual(['answered', 'answered', 'answered']);

  const all = session('grown').length;
  for (let count = 2; count < all; count++) {
    const lines = session(`grown-${count}`);
    await take(`grown-${count}`, lines.slice(0, count));
    const grown = await take(`grown-${count}`, lines);
    expect(grown, `${count} lines first`).toEqual({ ...whole, repeated: false });
    expect(await take(`grown-${count}`, lines), `${count} lines first`).toEqual({ ...whole, repeated: true });
  }
});
