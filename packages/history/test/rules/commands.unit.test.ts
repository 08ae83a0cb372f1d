import { pack, sha256 } from '@stemma/canonical';
import { expect, test } from 'vitest';
import { commandDigest, type Command } from '../../src/command.ts';
import { block } from '@stemma/test-kit';

const command: Command = {
  id: 'one',
  history: 'h',
  branchId: 0,
  by: { actor: 'ada' },
  steps: [block('a', { data_x: 1 })],
};

test('the digest of a command is the SHA-256 of its canonical msgpack without the id: every other field changes it [record §1: command and digest]', () => {
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
});
