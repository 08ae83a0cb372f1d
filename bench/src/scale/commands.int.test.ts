import { ENDPOINTS } from '@stemma/api';
import { expect, test } from 'vitest';
import { isMeasured } from './asked.ts';
import { askOfCommand } from './commands.ts';
import { ENDPOINTS_ASKED } from './endpoints.ts';
import { commandsAsked } from './run-commands.ts';

test('every command of the command line is measured as histories grow, or it is said why it is not', () => {
  const asked = commandsAsked();
  const called = (name: string) => {
    const found = asked[name];
    return found !== undefined && isMeasured(found) ? [found.growth, ...found.ask(400)] : found;
  };
  expect(called('diff')).toEqual(['page', 'diff', 'scale', '@c200', '@c201']);
  // No table names these: their example says how they are called.
  expect(called('tools')).toEqual(['whole', 'tools', 'scale']);
  expect(called('stats')).toEqual(['whole', 'stats']);
});

test('a command that writes, or whose example is no plain line, needs a line of its own', () => {
  const listed = (group: string, line: string) => ({ name: 'new', group, example: line });
  expect(askOfCommand(listed('Ask why', 'stemma new mine @c7'))).toHaveProperty('growth', 'whole');
  expect(() => askOfCommand(listed('Change a context', 'stemma new mine'))).toThrow('how to call new');
  expect(() => askOfCommand(listed('Ask why', 'stemma new mine > a.json'))).toThrow('how to call new');
});

test('every endpoint is measured as histories grow, or it is said why it is not', () => {
  expect(Object.keys(ENDPOINTS_ASKED)).toEqual(Object.keys(ENDPOINTS));
  const input = (name: keyof typeof ENDPOINTS) => {
    const found = ENDPOINTS_ASKED[name];
    return isMeasured(found) ? [found.growth, found.ask(400)] : found;
  };
  // No table names these: what they must be asked with follows from the contract.
  expect(input('tools')).toEqual(['whole', { history: 'scale' }]);
  expect(input('heldOf')).toEqual(['page', { history: 'scale' }]);
  expect(input('bisect')).toEqual(['whole', { history: 'scale', good: '@c1', bad: '@t0', when: '#q280' }]);
});
