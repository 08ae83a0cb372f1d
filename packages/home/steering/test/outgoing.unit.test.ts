import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { Headers } from '@stemma/context-tree';
import { callSteps } from '@stemma/importers';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SteeredBlock } from '../src/agents-list.ts';
import { alignMessages } from '../src/align.ts';
import { outgoingMessages } from '../src/outgoing.ts';
import { assistant, user } from './steered.ts';

type Message = WideJsonObject & { readonly role: string };
const call = (id: string): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'pay', arguments: '{}' } }],
});
const result = (id: string): Message => ({ role: 'tool', tool_call_id: id, content: 'done' });

/** The blocks that a branch has of a list which an agent has sent. */
const blocksOf = (list: readonly Message[]): SteeredBlock[] =>
  callSteps([], list).steps.flatMap((step, at) =>
    step.op !== 'insert'
      ? []
      : [step.node, ...(step.siblings ?? [])].map((node, part) => {
          const {
            nodeType: _type,
            role,
            kind,
            offset,
            ...payload
          } = node as WideJsonObject & {
            readonly role: string;
          };
          const id = `m${at}.${part}`;
          return block({
            ...{ id, role, kind: (kind ?? null) as string | null, payload, original: payload },
            inSys: step.parent === '^sys',
            headers: { id, cycle: 1, offset: offset ?? at } as unknown as Headers,
          });
        }),
  );
const block = (given: Partial<SteeredBlock>): SteeredBlock =>
  ({ kind: null, inSys: false, seq: 1, change: null, isSealedCore: false, ...given }) as SteeredBlock;
const inserted = (content: string, by: number): SteeredBlock => {
  const id = `by ${by}`;
  return block({
    ...{ id, role: 'user', payload: { content }, original: { content }, change: { what: 'inserted', by } },
    headers: { id, cycle: 1, offset: by } as unknown as Headers,
  });
};

/** What goes out of a list that the branch has as `blocks`, each message as its content. */
const sent = (
  blocks: readonly SteeredBlock[],
  list: readonly Message[],
  api: 'openai.chat' | 'anthropic.messages' = 'openai.chat',
) => {
  const going = outgoingMessages(api, blocks, alignMessages(blocks, list, 2), list);
  if ('fault' in going) return going;
  const shown = going.messages.map((each): WideJson =>
    'keep' in each ? (list[each.keep] as Message) : each.write,
  );
  return { ...going, shown };
};

test(
  'what nobody changed is kept as it came; of what observers changed each change is named once, with who made it',
  { tags: ['calls§5.2'] },
  () => {
    const words = fc.array(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(
        words,
        fc.array(fc.constantFrom('stays', 'removed', 'replaced', 'has one behind'), { maxLength: 8 }),
        (said, plan) => {
          const list = said.map((text, i): Message => (i % 2 === 0 ? user(text) : assistant(text)));
          const expected: WideJson[] = [];
          const changes: { what: string; node: string; seq: number }[] = [];
          const blocks = blocksOf(list).flatMap((each, i): SteeredBlock[] => {
            const by = i + 10;
            const message = list[i] as Message;
            switch (plan[i]) {
              case 'removed':
                changes.push({ what: 'removed', node: each.id, seq: by });
                return [{ ...each, change: { what: 'removed', by } }];
              case 'replaced':
                changes.push({ what: 'replaced', node: each.id, seq: by });
                expected.push({ ...message, content: 'anew' });
                return [
                  {
                    ...each,
                    payload: { ...each.payload, content: 'anew' },
                    change: { what: 'replaced', by },
                  },
                ];
              case 'has one behind':
                changes.push({ what: 'inserted', node: `by ${by}`, seq: by });
                expected.push(message, user('by an observer'));
                return [each, inserted('by an observer', by)];
              default:
                expected.push(message);
                return [each];
            }
          });
          const going = sent(blocks, list);
          expect(going).toMatchObject({ shown: expected, changes });
          const kept = (going as { messages: readonly object[] }).messages.flatMap((each) =>
            'keep' in each ? [each.keep] : [],
          );
          expect(kept).toEqual(
            list.flatMap((_, i) => (plan[i] === 'removed' || plan[i] === 'replaced' ? [] : [i])),
          );
        },
      ),
    );
  },
);

test(
  'what is inserted between a call of a tool and its results is sent behind these, in the order of the observers',
  { tags: ['calls§5.2'] },
  () => {
    const list = [
      user('pay twice'),
      {
        ...call('a'),
        tool_calls: [...(call('a')['tool_calls'] as WideJson[]), ...(call('b')['tool_calls'] as WideJson[])],
      } as Message,
      result('a'),
      result('b'),
      user('thanks'),
    ];
    const blocks = blocksOf(list);
    const at = blocks.findIndex(({ payload }) => payload['data_tool_call_id'] === 'a');
    blocks.splice(at, 0, inserted('first', 11));
    blocks.splice(at + 2, 0, inserted('second', 12));
    expect(sent(blocks, list)).toMatchObject({
      shown: [...list.slice(0, 4), user('first'), user('second'), list[4]],
    });
  },
);

test(
  'a list whose calls and results would not fit does not go out; one that came so goes on so',
  { tags: ['calls§5.5'] },
  () => {
    const list = [user('pay'), call('a'), result('a'), user('thanks')];
    const without = blocksOf(list).map((each) =>
      each.payload['data_tool_call_id'] === 'a'
        ? { ...each, change: { what: 'removed', by: 9 } as const }
        : each,
    );
    expect(sent(without, list)).toEqual({ fault: 'the call a has no result behind it' });
    const unfinished = [user('pay'), call('a'), user('and?')];
    expect(sent(blocksOf(unfinished), unfinished)).toMatchObject({ shown: unfinished, changes: [] });
  },
);

test(
  'the beginning of an answer stays the last message where the API continues it',
  { tags: ['calls§5.2'] },
  () => {
    const list = [user('count'), assistant('1, 2,')];
    const blocks = [...blocksOf(list), inserted('in French', 11)];
    expect(sent(blocks, list, 'anthropic.messages')).toMatchObject({
      shown: [list[0], user('in French'), list[1]],
    });
    expect(sent(blocks, list)).toMatchObject({ shown: [...list, user('in French')] });
  },
);

test(
  'messages that a branch does not show yet stand before what observers inserted, and behind what stood there',
  { tags: ['calls§5.1'] },
  () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 3 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 4 }),
        (before, brought, own) => {
          const known = Array.from({ length: own }, (_, i): Message => user(`known ${i}`));
          const blocks = [
            ...blocksOf(known),
            ...Array.from({ length: before }, (_, i) => inserted(`${i}`, 5_000 + i)),
          ];
          const list = [...known, ...Array.from({ length: brought }, (_, i): Message => user(`new ${i}`))];
          const { steps, origins, lost } = alignMessages(blocks, list, 1);
          expect(origins).toEqual(list.flatMap((_, i) => (i < own ? [] : [i])));
          expect(lost).toEqual([]);
          const offsets = steps.map((step) => (step.op === 'insert' ? (step.node.offset as number) : NaN));
          expect(offsets).toEqual(offsets.toSorted((a, b) => a - b));
          expect(new Set(offsets).size).toBe(brought);
          for (const offset of offsets) {
            expect(offset).not.toBe(0);
            if (before > 0) expect(offset).toBeLessThan(5_000);
            expect(offset).toBeGreaterThan(Math.max(...blocksOf(known).map(({ headers }) => headers.offset)));
          }
        },
      ),
    );
  },
);

test(
  'a change of an observer to a message that the agent drops or rewrites is lost, once',
  { tags: ['calls§5.3'] },
  () => {
    const list = [user('one'), assistant('1'), user('two')];
    const blocks = blocksOf(list).map((each, i) =>
      i === 0
        ? {
            ...each,
            payload: { ...each.payload, content: 'anew' },
            change: { what: 'replaced', by: 9 } as const,
          }
        : each,
    );
    const { lost, steps } = alignMessages(blocks, list.slice(1), 2);
    expect(lost).toEqual([{ what: 'lost', node: blocks[0]?.id, seq: 9 }]);
    expect(steps.filter(({ op }) => op === 'remove')).toHaveLength(1);
  },
);
