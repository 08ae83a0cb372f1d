import { pack, sha256 } from '@stemma/canonical';
import { expect, test } from 'vitest';
import { commandDigest, parseCommand, type Command } from '../../src/command.ts';
import { decide } from '../../src/decide/decide.ts';
import { block, codeOf, started } from '@stemma/test-kit';

const command: Command = {
  id: 'one',
  history: 'h',
  branchId: 0,
  by: { actor: 'ada' },
  steps: [block('a', { data_x: 1 })],
};

test(
  'the digest of a command is the SHA-256 of its canonical msgpack without the id: every other field changes it',
  { tags: ['record§1:command-and-digest'] },
  () => {
    // The recorded key of the branch id is `lineage`.
    const { id: _, branchId, ...recorded } = command;
    expect(commandDigest(command)).toEqual(sha256(pack({ ...recorded, lineage: branchId } as never)));
    expect(commandDigest({ ...command, id: 'two' })).toEqual(commandDigest(command));
    const others: Command[] = [
      { ...command, history: 'i' },
      { ...command, branchId: 1 },
      { ...command, by: { recorder: 'ada' } },
      { ...command, expected: 0 },
      { ...command, steps: [block('a', { data_x: 2 })] },
      { ...command, steps: [...command.steps, { op: 'commit' }] },
    ];
    const hex = [command, ...others].map((each) => Buffer.from(commandDigest(each)).toString('hex'));
    expect(new Set(hex).size).toBe(hex.length);
  },
);

test(
  'a command holds at most 10,000 observations, 100,000 redactions, and 512 characters of the name of a redacted field',
  { tags: ['record§1:command-and-digest'] },
  () => {
    const at = { branchId: 0, seq: 0 };
    const look = { kind: 'opened', what: 'it', at, times: 1, first_at: 1n, last_at: 1n };
    const redaction = { step: 0, node: null, field: 'content', rule: 'key', count: 1 };
    const code = (more: object): string => codeOf(() => parseCommand({ ...command, ...more }));
    const observing = (count: number) => ({
      steps: [{ op: 'observe', observations: Array.from({ length: count }, () => look) }],
    });
    const redacted = (count: number) => ({ redactions: Array.from({ length: count }, () => redaction) });
    const field = (length: number) => ({ redactions: [{ ...redaction, field: 'f'.repeat(length) }] });
    for (const most of [observing(10_000), redacted(100_000), redacted(1), field(512)])
      expect(code(most)).toBe('taken');
    for (const more of [observing(10_001), redacted(100_001), field(513)])
      expect(code(more)).toBe('E_COMMAND_INVALID');
  },
);

test(
  'a redaction that names a node by step and index is recorded with the id of that node',
  { tags: ['record§1:command-and-digest'] },
  () => {
    const { history } = started();
    const redaction = (step: number) => ({ step, node: 0, field: 'content', rule: 'key', count: 1 });
    const redacting: Command = {
      ...command,
      history: 'h-reference',
      by: { recorder: 'r' },
      steps: [block('a'), block('b'), block('c')],
      redactions: [redaction(2), redaction(1), redaction(0)],
    };
    const { events } = decide(history.state, redacting, 1n, history.sources);
    const recorded = events.flatMap((event) => (event.type === 'ContentRedacted' ? event.redactions : []));
    expect(recorded.map(({ node }) => node)).toEqual(['c', 'b', 'a']);
  },
);

test(
  'an observation names at most 4,096 bytes of what was looked for',
  { tags: ['pool:Observations'] },
  () => {
    const { history } = started();
    history.submit(0, [{ op: 'config', set: { observe: true } }], 1n, { actor: 'ann' });
    const look = {
      kind: 'searched',
      at: { branchId: 0, seq: 0 },
      times: 1,
      first_at: 1n,
      last_at: 1n,
    } as const;
    const observe = (what: string): string =>
      codeOf(() =>
        history.submit(0, [{ op: 'observe', observations: [{ ...look, what }] }], 2n, { actor: 'ann' }),
      );
    expect(observe('é'.repeat(2_048))).toBe('taken');
    expect(observe(`${'é'.repeat(2_048)}x`)).toBe('E_INPUT_TOO_LARGE');
  },
);
