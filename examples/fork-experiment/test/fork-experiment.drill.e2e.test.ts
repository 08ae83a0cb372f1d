import { openHome } from '@stemma/home';
import { sized } from '@stemma/test-kit';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';

const program = join(import.meta.dirname, '../fork-experiment.ts');
const directories: string[] = [];
afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

/** Everything that the experiment comes to. */
const performed = async (rounds: number) => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-fork-experiment-'));
  directories.push(directory);
  const { stdout } = await promisify(execFile)(process.execPath, [program, directory, String(rounds)]);
  const home = await openHome({ directory });
  try {
    const exports: string[] = [];
    for (const name of ['sea:main', 'sea:undone']) {
      const position = await home.position(await home.find(name));
      let text = '';
      for await (const piece of home.operations.experiments.export(position)) text += piece;
      exports.push(text);
    }
    const { interventions } = await home.queries.audit.interventions(await home.find('sea:undone'));
    return {
      said: stdout.replaceAll(directory, ''),
      exports,
      kinds: new Set(interventions.map(({ intervention_type: type }) => type)),
      report: readFileSync(join(directory, 'report.html'), 'utf8'),
      verdict: readFileSync(join(directory, 'verdict.json'), 'utf8'),
    };
  } finally {
    await home.close();
  }
};

test(
  'the fork experiment runs whole without a network, and again to the same bytes',
  { tags: ['pool:Runner'] },
  async () => {
    const rounds = sized(6, 100);
    const [first, second] = [await performed(rounds), await performed(rounds)];
    expect(second).toEqual(first);
    for (const kind of ['save', 'fork', 'rollback', 'message_inject', 'run', 'external_query'])
      expect(first.kinds).toContain(kind);
    expect(first.report).toContain('What would you decide if this could be undone?');
    expect(JSON.parse(first.verdict)).toMatchObject({
      isJudged: true,
      units: 'runs',
      a: { runs: 4 },
      b: { runs: 4 },
    });
  },
);
