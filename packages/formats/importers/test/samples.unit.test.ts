import { readFileSync, writeFileSync } from 'node:fs';
import { NODE_KIND, type FlatTree } from '@stemma/context-tree';
import { describe, expect, it } from 'vitest';
import { toOpenAIMessages } from '../src/openai-chat/to-openai-messages.ts';
import { record, sourceOf, type Recorded } from './in-memory.ts';

const sample = async (name: string): Promise<Recorded> => {
  const bytes = readFileSync(new URL(`../../../../samples/${name}`, import.meta.url));
  const [recorded] = await record(sourceOf(bytes));
  if (recorded === undefined) throw new Error(`${name} holds no conversation`);
  return recorded;
};

/** Rewritten only on request: `STEMMA_GOLDEN=write pnpm vitest run packages/formats/importers/test/samples.unit.test.ts`. */
const golden = new URL('golden/samples.json', import.meta.url);

const blocks = (tree: FlatTree | undefined): string[] =>
  tree?.ids.filter((_id, index) => tree.kinds[index] === NODE_KIND.block) ?? [];

describe('the bundled samples', () => {
  it(
    'have the pinned tree hash in every cycle',
    { tags: ['context-tree§9:pinned', 'context-tree§4:tree-hash', 'compiler-stages:import'] },
    async () => {
      const hashes: Record<string, readonly string[]> = {};
      for (const name of ['slow-checkout.steps.jsonl', 'harbour-tram.chat.json', 'night-ferry.ctree.jsonl'])
        hashes[name] = (await sample(name)).treeHashes;
      if (process.env['STEMMA_GOLDEN'] === 'write')
        writeFileSync(golden, `${JSON.stringify(hashes, null, 2)}\n`);
      expect(hashes).toEqual(JSON.parse(readFileSync(golden, 'utf8')));
    },
  );

  it(
    'slow-checkout: documents expire, are held and are removed, old calls are pruned, the summary stays',
    { tags: ['context-tree§3.1', 'context-tree§3.2', 'context-tree§3:holds'] },
    async () => {
      const { cycles, working } = await sample('slow-checkout.steps.jsonl');
      const cyclesOf = (id: string): number[] =>
        cycles.flatMap((tree, index) => (tree.indexOf(id) === undefined ? [] : [index + 1]));
      expect({
        incident: cyclesOf('incident-2025-11'),
        runbook: cyclesOf('runbook-checkout'),
        wrong: cyclesOf('doc-wrong-service'),
        traces: cyclesOf('traces'),
        held: cyclesOf('change-cart-412').at(-1),
        firstCall: cyclesOf('call-01').at(-1),
        summary: [cyclesOf('summary')[0], cyclesOf('summary').at(-1)],
      }).toEqual({
        incident: [1, 2],
        runbook: [1, 2, 3, 4],
        wrong: [4],
        traces: [7, 8, 9],
        held: 15,
        firstCall: 8,
        summary: [9, 18],
      });
      expect(blocks(working)).toContain('closing');
      expect(blocks(cycles.at(-1)).length).toBeLessThanOrEqual(28);
    },
  );

  it(
    'slow-checkout: every message list has an answer for each of its calls',
    { tags: ['context-tree§9'] },
    async () => {
      const { cycles, payloads } = await sample('slow-checkout.steps.jsonl');
      for (const tree of cycles) {
        const messages = toOpenAIMessages(tree, payloads);
        const made = messages.flatMap(({ tool_calls: calls }) =>
          ((calls ?? []) as { id: string }[]).map(({ id }) => id),
        );
        const answered = messages.flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]));
        expect(answered).toEqual(made);
      }
    },
  );

  it(
    'harbour-tram: every call was shown exactly the messages before it',
    { tags: ['context-tree§9:nothing-lost'] },
    async () => {
      const { cycles, payloads } = await sample('harbour-tram.chat.json');
      const text = readFileSync(
        new URL('../../../../samples/harbour-tram.chat.json', import.meta.url),
        'utf8',
      );
      const { messages } = JSON.parse(text) as { messages: { role: string }[] };
      const calls = messages.flatMap(({ role }, index) => (role === 'assistant' ? [index] : []));
      expect(cycles.map((tree) => toOpenAIMessages(tree, payloads))).toEqual(
        calls.map((end) => messages.slice(0, end)),
      );
    },
  );
});
