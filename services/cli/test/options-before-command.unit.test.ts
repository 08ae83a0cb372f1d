import { Option } from 'commander';
import { expect, test } from 'vitest';
import { optionsBeforeCommand } from '../src/options-before-command.ts';

const OPTIONS = ['--history <history>', '--intercept [hosts]', '--upstream <host=url...>', '--steer'].map(
  (flags) => new Option(flags),
);

test.each([
  ['codex exec', 'codex exec'],
  ['--intercept codex exec', '--intercept= codex exec'],
  ['--intercept=models.example codex', '--intercept=models.example codex'],
  ['--history a --steer codex --history b', '--history=a --steer codex --history b'],
  ['--upstream a=http://x --upstream b=http://y codex', '--upstream=a=http://x --upstream=b=http://y codex'],
  ['--intercept models.example -- codex', '--intercept models.example -- codex'],
  ['--intercept models.example --steer -- codex', '--intercept models.example --steer -- codex'],
  ['--intercept -- codex', '--intercept -- codex'],
  ['--unknown codex', '--unknown codex'],
  ['--history', '--history'],
  ['codex -- x --intercept y', 'codex -- x --intercept y'],
])('%s is read as %s', (line, read) => {
  expect(optionsBeforeCommand(OPTIONS, line.split(' '))).toEqual(read.split(' '));
});
