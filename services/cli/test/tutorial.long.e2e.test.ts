import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './run-stemma.ts';
import { asShown, mask, stepsOf, withOutputs } from './tutorial-page.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = join(ROOT, 'docs/tutorial.md');

/**
 * Runs blocks of commands one after the other in one shell, as a reader does in an empty folder; gives what each printed. `npx
 * stemma` is the program of the checkout: scripts/tarballs.e2e.test.ts tries the package.
 */
const runInOneShell = (blocks: readonly string[], folder: string): readonly string[] => {
  const end = '\u001e';
  const script = blocks.map((block) => `${block}printf '${end}'\n`).join('');
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'npx'), `#!/bin/sh\nshift\nexec '${ROOT}/stemma' "$@"\n`, { mode: 0o755 });
  const cwd = join(folder, 'tutorial');
  mkdirSync(cwd);
  const { status, stdout } = spawnSync('sh', ['-e', '-c', `exec 2>&1\n${script}`], {
    cwd,
    encoding: 'utf8',
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: folder, TMPDIR: folder },
  });
  if (status !== 0) throw new Error(`the tutorial ended with ${status}:\n${stdout}`);
  // A block of output ends with the end of a line, also where a command prints none.
  return stdout
    .split(end)
    .slice(0, -1)
    .map((output) => (output === '' || output.endsWith('\n') ? output : `${output}\n`));
};

test('every command of the tutorial prints what the page shows (STEMMA_WRITE_TUTORIAL=1 writes it)', () => {
  using folder = temporaryFolder();
  const page = readFileSync(PAGE, 'utf8');
  const steps = stepsOf(page);
  const outputs = runInOneShell(
    steps.map(({ commands }) => commands),
    folder.path,
  );
  if (process.env['STEMMA_WRITE_TUTORIAL'] === '1') writeFileSync(PAGE, withOutputs(page, outputs));
  const shown = stepsOf(readFileSync(PAGE, 'utf8')).map(({ output }) => output ?? '');
  expect(outputs.map((output, i) => asShown(output, shown[i] ?? ''))).toEqual(shown.map(mask));
});

test('an output that differs from the page is reported, and one that the page shortens is not', () => {
  const printed = 'a 2026-11-22 12:20:43Z x\nb\nc\nd in 0.2 s\n';
  expect(asShown(printed, 'a 2020-01-01 00:00:00Z …\n…\nd in 1.5 s\n')).toBe(
    'a <time> …\n…\nd in <duration>\n',
  );
  expect(asShown(printed, 'a …\nb\nd …\n')).toBe('a <time> x\nb\nc\nd in <duration>\n');
});
