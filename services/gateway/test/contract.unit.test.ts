import { interventionTypes } from '@stemma/api';
import { issueText } from '@stemma/errors';
import { INTERVENTIONS } from '@stemma/events';
import { expect, test } from 'vitest';
import { SERVED } from '../src/step-requests.ts';

test('the contract lists the types of interventions that are recorded', () => {
  expect(interventionTypes).toEqual(INTERVENTIONS);
});

test.each([
  [{ op: 'rollback', to: { branchId: 0 } }, 'steps.0.to.seq is missing'],
  [
    { op: 'rollback', to: { branchId: 'x', seq: 1 } },
    'steps.0.to.branchId: Invalid input: expected number, received string',
  ],
  [{ op: 'rollback', to: { branchId: 0, seq: 1, cycle: 2 } }, 'steps.0.to: Unrecognized key: "cycle"'],
  [
    { op: 'rollback', to: 7 },
    'steps.0.to: Invalid input: expected object, received number, or Invalid input: expected string, received number',
  ],
  [{ op: 'rollback' }, 'steps.0.to is missing'],
  [{ op: 'insert', parent: '^ah' }, 'steps.0.node is missing'],
  [{ op: 'remove', id: 'a', parent: 'b' }, 'steps.0: Unrecognized key: "parent"'],
])('the refusal of the step %j says what is wrong with it', (step, sentence) => {
  const parsed = SERVED.command.body.safeParse({ id: 'a', actor: 'b', steps: [step] });
  expect(issueText(parsed.error?.issues ?? [], 'the request').sentence).toBe(sentence);
});
