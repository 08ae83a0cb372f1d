import { compileStages, profileNamed, readConfig, readEventLog, type StageHashes } from '@stemma/stages';
import { describe, expect, test } from 'vitest';
import { runFile } from './run-file.ts';

const engine = profileNamed('breadboard-0.1');

const hashesOf = (lines: readonly string[], config: object = {}): StageHashes => {
  const { nodes, payload } = readEventLog(engine, lines);
  return compileStages({ profile: engine, nodes, payload, config: readConfig(engine, { ...config }) }).hashes;
};

const run = (file: object) => runFile(JSON.stringify(file));

const LINE = '{"kind":"message","payload":{"role":"user","content":"a"},"turn":1}';
const PREVIEWS = { header: { mode: 'sanitized_content' } };

describe('vectors of the compiler stages', () => {
  test(
    'are run under any key, by any name, with whatever of a case may be left out',
    { tags: ['compiler-stages:vectors'] },
    () => {
      const hashes = hashesOf([LINE]);
      const reports = run({
        profile: 'breadboard-0.1',
        made_by: 'a generator',
        logs: [
          { raw_lines: [LINE], expect: { hashes } },
          { name: 'text', raw_lines: `${LINE}\n`, config: null, view: null, expect: { hashes } },
          { events: [JSON.parse(LINE) as object], collapse: null, expect: { hashes } },
        ],
        more: [
          { about: 'own profile', profile: 'stemma-1', raw_lines: [LINE], expect: { skipped_lines: [] } },
        ],
      });
      expect(reports).toEqual([
        { key: 'logs', passed: 3, failed: 0, unsupported: 0, failures: [] },
        { key: 'more', passed: 1, failed: 0, unsupported: 0, failures: [] },
      ]);
    },
  );

  test(
    'fail by themselves where they are of another shape, and not supported hides no failure',
    { tags: ['compiler-stages:vectors'] },
    () => {
      const [report] = run({
        profile: 'breadboard-0.1',
        cases: [
          { raw_lines: [LINE] },
          { seed: 7, raw_lines: [LINE], expect: { colour: 1, skipped_lines: [1] } },
          { raw_lines: [LINE], expect: { tree: { BOILED: {} } } },
          null,
        ],
      });
      expect([report?.passed, report?.failed, report?.unsupported]).toEqual([0, 3, 1]);
      expect(report?.failures.map(({ name }) => name)).toEqual(['0 seed null', '1 seed 7', '3 seed null']);
    },
  );

  test(
    'of the engine may show what its patterns miss, and differ in nothing else',
    { tags: ['compiler-stages:previews'] },
    () => {
      const secret = (text: string): string =>
        `{"kind":"message","payload":{"role":"user","content":"${text}"},"turn":1}`;
      const missed = [secret('api_key: hunter22')];

      const shown = hashesOf(missed, { header: { ...PREVIEWS.header, redact_secret_like: false } });
      const redacted = hashesOf(missed, PREVIEWS);
      expect(shown.z3).not.toBe(redacted.z3);
      const [report] = run({
        profile: 'breadboard-0.1',
        cases: [
          { raw_lines: missed, config: PREVIEWS, expect: { hashes: shown } },
          { raw_lines: missed, config: PREVIEWS, expect: { hashes: redacted } },
          {
            raw_lines: missed,
            config: PREVIEWS,
            expect: { hashes: shown },
            expect_redacted: { hashes: redacted },
          },
          { raw_lines: missed, config: PREVIEWS, expect: { hashes: { ...shown, z1: redacted.z3 } } },
          {
            raw_lines: missed,
            config: PREVIEWS,
            expect: { hashes: redacted },
            expect_redacted: { hashes: redacted },
          },
        ],
      });
      expect(report?.failures.map(({ name }) => name)).toEqual(['3 seed null', '4 seed null']);
    },
  );
});
