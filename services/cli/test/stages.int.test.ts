import { printPlain, readExactJson, type ExactObject } from '@stemma/stages';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runStemma, temporaryFolder, type Run } from './run-stemma.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

let files = 0;
const file = (text: string): string => {
  const path = join(folder.path, `f${files++}.json`);
  writeFileSync(path, text);
  return path;
};
const SAMPLE = join(import.meta.dirname, '../../../samples/night-ferry.ctree.jsonl');

const json = async (...args: string[]): Promise<ExactObject> => {
  const { stdout } = await runStemma(['stages', ...args, '--json']);
  return readExactJson(stdout) as ExactObject;
};
const code = (run: Run): unknown => (JSON.parse(run.stdout) as { error?: { code: string } }).error?.code;

describe('stages compile', () => {
  test(
    'prints the whole output with nodes, policy and skipped lines, without a home',
    { tags: ['compiler-stages:hashes', 'compiler-stages:reading'] },
    async () => {
      const log = file(
        '{"kind":"message","payload":{"role":"user","content":"a"},"turn":1.0}\n{\n[]\n{"kind":"x"}',
      );
      const got = await json('compile', log, '--config', file('{"collapse":{"target":1}}'));
      expect(got).toMatchObject({
        kind: 'ctree_compiler',
        node_count: 2,
        skipped_lines: [2, 3],
        nodes: [
          { id: expect.stringMatching(/^n00000000_/) as string },
          { id: expect.stringMatching(/^n00000001_/) as string },
        ],
        policy: { target: 1, dropped: 1 },
      });
      const { stdout, stderr } = await runStemma(['stages', 'compile', log, '--json']);
      expect(stdout).toContain('"turn":1.0');
      expect(stderr).toBe(
        'skipped: line 2 ends in the middle of a value\nskipped: line 3 is no JSON object\n',
      );
      const shown = await runStemma(['stages', 'compile', log]);
      expect(shown.stdout).toBe(stdout);
      expect(shown.stderr).toContain('2 nodes, 2 lines skipped');
      expect(Object.keys(readExactJson(stdout) as ExactObject)).toEqual([
        'compiler_version',
        'event_count',
        'has_prompt_summary',
        'hashes',
        'kind',
        'node_count',
        'nodes',
        'policy',
        'schema_version',
        'skipped_lines',
        'stages',
      ]);
    },
  );

  test(
    'compiles the sample to pinned hashes, in both profiles',
    { tags: ['compiler-stages:profiles'] },
    async () => {
      expect(await json('compile', SAMPLE)).toMatchObject({
        hashes: {
          node_hash: '1e9301c787b0d94728e6372f084c1a9ca3708ba6',
          z1: '2bb5e05f2bb79f3dba3c8e7f5af05479e728535b',
          z2: '1dd034ae3b3c0828c0da02b6fa9611150fc19359',
          z3: '0a77226048c38fd07e7f42d1687fbfbe4f015858',
        },
      });
      const own = await json('compile', SAMPLE, '--profile', 'stemma-1');
      expect((own['hashes'] as ExactObject)['z3']).toMatch(/^[0-9a-f]{64}$/);
    },
  );

  test(
    'reads stdin, lines that arrive in pieces, and a last line without a line break',
    { tags: ['compiler-stages:reading'] },
    async () => {
      const { stdout } = await runStemma(['stages', 'compile', '-', '--json'], {
        input: `${'\n'.repeat(70_000)}{"kind":"message","payload":{"content":"${'ü'.repeat(100_000)}"}}`,
      });
      expect(readExactJson(stdout)).toMatchObject({ node_count: 1, skipped_lines: [] });
    },
  );

  test.each([
    [['compile', '/nowhere.jsonl'], 74, 'E_IO'],
    [['compile', SAMPLE, '--profile', 'x'], 64, 'E_USAGE'],
    [
      ['compile', SAMPLE, '--config', file('{"selection":{"max_nodes":true}}'), '--profile', 'stemma-1'],
      64,
      'E_STAGES_CONFIG',
    ],
    [['compile', SAMPLE, '--config', file('{')], 1, 'E_INPUT_TRUNCATED'],
    [['tree', SAMPLE, '--stage', 'BOILED'], 64, 'E_STAGES_CONFIG'],
    [['verify', SAMPLE], 64, 'E_USAGE'],
    [['verify', SAMPLE, '--snapshot', file('{}')], 1, 'E_INPUT_SHAPE'],
    [[], 64, 'E_USAGE'],
  ])('%j ends with %i and %s', { tags: ['compiler-stages:config'] }, async (args, exit, error) => {
    const run = await runStemma(['stages', ...args, '--json']);
    expect([run.code, code(run)]).toEqual([exit, error]);
  });

  test(
    'refuses bytes that are not UTF-8 with an error that names the line',
    { tags: ['compiler-stages:reading'] },
    async () => {
      const run = await runStemma(['stages', 'compile', '-', '--json'], {
        input: Uint8Array.of(0x0a, 0x0a, 0xff, 0x0a),
      });
      expect([run.code, code(run)]).toEqual([1, 'E_INPUT_ENCODING']);
    },
  );
});

describe('stages tree', () => {
  test(
    'draws turns, tasks and leaves, and previews only on request',
    { tags: ['compiler-stages:tree-nodes', 'compiler-stages:safety'] },
    async () => {
      const { stdout } = await runStemma(['stages', 'tree', SAMPLE, '--stage', 'spec']);
      expect(stdout).toContain(
        '  Turn 2\n    message:user n00000006_42c97548\n    tool_call vessel-lookup\n',
      );
      expect(stdout).toContain('  Tasks\n    Task height\n      task:subagent_spawned');
      expect(stdout).not.toContain('van');
      const shown = await runStemma(['stages', 'tree', SAMPLE, '--stage', 'spec', '--previews']);
      expect(shown.stdout).toContain('“Two people and a van to Skarholm tonight, please.”');
      expect(shown.stdout).not.toContain('Ternen"');
    },
  );

  test('gives the view of the engine as JSON', { tags: ['compiler-stages:tree-selection'] }, async () => {
    const view = await json('tree', SAMPLE, '--stage', 'HEADER');
    expect(Object.keys(view)).toEqual(['hashes', 'nodes', 'root_id', 'selection', 'stage']);
    expect(view).toMatchObject({
      root_id: 'ctrees:root',
      stage: 'HEADER',
      selection: { collapsed_count: 5 },
    });
  });
});

describe('stages verify', () => {
  test(
    'reports a match, a log with added lines, a cut log, and the first differing node, each with its exit code',
    { tags: ['compiler-stages:verify'] },
    async () => {
      const output = await json('compile', SAMPLE);
      const { node_hash: hash } = output['hashes'] as { node_hash: string };
      const snapshot = file(JSON.stringify({ node_hash: hash, node_count: 16, nodes: output['nodes'] }));
      const short = file(JSON.stringify({ node_hash: hash }));
      const whole = file(printPlain(output));
      const run = (log: string, against: string): Promise<Run> =>
        runStemma(['stages', 'verify', log, '--snapshot', against, '--json']);
      const text = readFileSync(SAMPLE, 'utf8');
      const longer = file(`${text}{"kind":"x"}\n`);
      const cut = file(text.split('\n').slice(0, 9).join('\n'));
      const changed = file(text.replace('2.6 m. ', '2.7 m. '));
      const results = [];
      for (const [log, against] of [
        [SAMPLE, snapshot],
        [SAMPLE, short],
        [SAMPLE, whole],
        [longer, short],
        [cut, snapshot],
        [changed, snapshot],
        [changed, short],
      ] as const) {
        const { code: exit, stdout } = await run(log, against);
        const { verdict, nodes, line, error } = JSON.parse(stdout) as Record<string, unknown>;
        results.push([
          exit,
          verdict,
          nodes ?? null,
          line,
          (error as { code?: string } | undefined)?.code ?? null,
        ]);
      }
      expect(results).toEqual([
        [0, 'match', 16, null, null],
        [0, 'match', 16, null, null],
        [0, 'match', 16, null, null],
        [5, 'prefix', 16, null, 'E_STAGES_DIFFER'],
        [5, 'truncated', 8, null, 'E_STAGES_DIFFER'],
        [5, 'differs', null, 8, 'E_STAGES_DIFFER'],
        [5, 'differs', null, null, 'E_STAGES_DIFFER'],
      ]);
    },
  );
});
