import { interventionTypes, StepRequest } from '@stemma/api';
import { INTERVENTIONS } from '@stemma/events';
import { Step } from '@stemma/history';
import { expect, test } from 'vitest';

test('the contract lists the types of interventions that are recorded', () => {
  expect(interventionTypes).toEqual(INTERVENTIONS);
});

test('a step of a request has no field that a step of a command lacks', () => {
  const fields = new Map(Step.options.map(({ shape }) => [shape.op.value as string, Object.keys(shape)]));
  for (const { shape } of StepRequest.options)
    expect(fields.get(shape.op.value)).toEqual(expect.arrayContaining(Object.keys(shape)));
});
