import { required } from '../options.ts';
import { stepCommand } from '../step-command.ts';

export const name = stepCommand(
  {
    name: 'name',
    summary: 'name the tip of a branch, for @name:NAME',
    group: 'Save, fork, return',
    place: 6,
    example: 'stemma name mine all-facts',
    arguments: [['<name>', 'the name: letters, digits, _ . -']],
    options: [],
  },
  ([value]) => ({ op: 'name', name: required(value) }),
);
