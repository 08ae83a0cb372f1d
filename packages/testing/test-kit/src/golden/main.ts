import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runFile, type KeyReport } from './run-file.ts';

/** `pnpm golden [FILE] [--json]`: runs a file of golden vectors and prints what came of them; exit 1 on failures. */
const main = (): number => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false } },
  });
  const file = positionals[0] ?? fileURLToPath(new URL('../../vectors/pact.json', import.meta.url));
  const reports = runFile(readFileSync(file, 'utf8'));
  process.stdout.write(values.json ? JSON.stringify({ file, keys: reports }) + '\n' : table(reports));
  return reports.some(({ failed }) => failed > 0) ? 1 : 0;
};

const table = (reports: readonly KeyReport[]): string => {
  const rows = reports.map(
    ({ key, passed, failed, unsupported }) => [key, passed, failed, unsupported] as const,
  );
  const sum = (of: (report: KeyReport) => number): number =>
    reports.reduce((total, report) => total + of(report), 0);
  const total = [
    'all',
    sum((each) => each.passed),
    sum((each) => each.failed),
    sum((each) => each.unsupported),
  ];
  const line = (cells: readonly (string | number)[]): string =>
    String(cells[0]).padEnd(20) +
    cells
      .slice(1)
      .map((cell) => String(cell).padStart(20))
      .join('') +
    '\n';
  const failures = reports.flatMap(({ key, failures: list }) =>
    list.map(({ name, detail }) => `\n${key} / ${name}\n  ${detail}\n`),
  );
  return [
    line(['key', 'passed', 'failed', 'not yet supported']),
    ...rows.map(line),
    line(total),
    ...failures,
  ].join('');
};

try {
  process.exitCode = main();
} catch (error) {
  process.stderr.write(`golden: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
