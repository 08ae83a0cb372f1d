import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';

/** A file of a format that does not name its conversations, as its program writes it: what was asked and answered, turn by turn. */
type Kind = {
  readonly name: string;
  readonly textOf: (turns: readonly (readonly [string, string])[]) => string;
};

const json =
  (make: (turns: readonly (readonly [string, string])[]) => unknown): Kind['textOf'] =>
  (turns) =>
    JSON.stringify(make(turns));

const KINDS: { readonly [format: string]: Kind } = {
  'ai-sdk': {
    name: 'chat.json',
    textOf: json((turns) =>
      turns.flatMap(([asked, said]) => [
        { id: 'u', role: 'user', parts: [{ type: 'text', text: asked }] },
        { id: 'a', role: 'assistant', parts: [{ type: 'text', text: said }] },
      ]),
    ),
  },
  langchain: {
    name: 'memory.json',
    textOf: json((turns) =>
      turns.flatMap(([asked, said]) => [
        { type: 'human', data: { content: asked } },
        { type: 'ai', data: { content: said } },
      ]),
    ),
  },
  'pydantic-ai': {
    name: 'messages.json',
    textOf: json((turns) =>
      turns.flatMap(([asked, said]) => [
        { kind: 'request', parts: [{ part_kind: 'user-prompt', content: asked }] },
        { kind: 'response', parts: [{ part_kind: 'text', content: said }], model_name: 'm' },
      ]),
    ),
  },
  cline: {
    name: 'api_conversation_history.json',
    textOf: json((turns) =>
      turns.flatMap(([asked, said], n) => [
        { role: 'user', content: [{ type: 'text', text: asked }], ts: 2 * n + 1 },
        { role: 'assistant', content: [{ type: 'text', text: said }], ts: 2 * n + 2 },
      ]),
    ),
  },
  sharegpt: {
    name: 'chats.json',
    textOf: json((turns) => [
      {
        conversations: turns.flatMap(([human, gpt]) => [
          { from: 'human', value: human },
          { from: 'gpt', value: gpt },
        ]),
      },
    ]),
  },
  aider: {
    name: '.aider.chat.history.md',
    textOf: (turns) =>
      `\n# aider chat started at 2026-09-01 10:00:00\n\n${turns.map(([asked, said]) => `#### ${asked}\n\n${said}\n\n`).join('')}`,
  },
};

type Imported = {
  readonly name: string;
  readonly branchId: number;
  readonly calls: number;
  readonly repeated: boolean;
};

const ONE = ['How many beds?', 'Three.'] as const;
const OTHER = ['Where is the spade?', 'In the shed.'] as const;

describe.each(Object.entries(KINDS))('a file of %s', (format, { name, textOf }) => {
  it('is another conversation than one of its name in another folder, and the same when it comes again or has grown', async () => {
    const folder = temporaryFolder();
    onTestFinished(() => folder[Symbol.dispose]());
    const at = ['--home', join(folder.path, 'home')];
    const write = (place: string, ...turns: readonly (typeof ONE | typeof OTHER)[]): string => {
      const file = join(folder.path, place, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, textOf(turns));
      return file;
    };
    const importIt = async (file: string): Promise<Imported & { readonly format: string }> => {
      const { imported } = (await stemmaJson(['import', file, '--format', format, ...at])) as {
        imported: (Imported & { format: string })[];
      };
      expect(imported).toHaveLength(1);
      return imported[0] as Imported & { format: string };
    };
    const first = await importIt(write('a', ONE));
    const second = await importIt(write('b', OTHER));
    expect([first, second]).toMatchObject([
      { format, branchId: 0, calls: 1, repeated: false },
      { format, branchId: 0, calls: 1, repeated: false, name: `${first.name}-2` },
    ]);
    expect(await importIt(write('b', OTHER))).toMatchObject({ name: second.name, repeated: true });
    const grown = await importIt(write('a', ONE, OTHER));
    expect(grown).toMatchObject({ name: first.name, branchId: 0, calls: 2, repeated: false });
    const { stdout } = await runStemma(['thread', first.name, ...at]);
    for (const said of [...ONE, ...OTHER]) expect(stdout.split(said)).toHaveLength(2);
  });
});
