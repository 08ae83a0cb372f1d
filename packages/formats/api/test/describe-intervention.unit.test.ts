import { expect, it } from 'vitest';
import { describeIntervention, nameOfIntervention, type InterventionAnswer } from '../src/index.ts';

type Described = Pick<InterventionAnswer, 'intervention_type' | 'content'>;
const config = (content: Described['content']): Described => ({
  intervention_type: 'config_change',
  content,
});
const edit = (...commands: Described['content'][]): Described => ({
  intervention_type: 'edit',
  content: { commands },
});

it.each<readonly [Described, name: string, words: string]>([
  [
    config({
      'breakpoint.b1': { from: null, to: { tool: 'refund', turn: 3, timeout_ms: 6e5, then: 'go-on' } },
    }),
    'breakpoint',
    'b1 holds calls where tool refund, turn 3',
  ],
  [config({ 'breakpoint.b1': { from: {}, to: null } }), 'breakpoint', 'b1 is removed'],
  [config({ steer: { from: null, to: true } }), 'steer', 'steer = true'],
  [config({ window: { from: 1, to: 2 } }), 'config_change', 'window = 2'],
  [
    config({ window: { from: 1, to: 2 }, 'breakpoint.b': { from: null, to: { cycle: 2 } } }),
    'config_change',
    'window = 2, b holds calls where cycle 2',
  ],
  [edit({ op: 'release', attempt: 'c', how: 'resumed' }), 'release', 'the held call goes on as it was'],
  [edit({ op: 'release', attempt: 'c', how: 'aborted' }), 'release', 'the held call is refused'],
  [edit({ op: 'replace', id: 'm1' }), 'edit', 'replace m1'],
])('%j is called %s', (one, name, words) => {
  expect([nameOfIntervention(one), describeIntervention(one)]).toEqual([name, words]);
});
