import { readFileSync, writeFileSync } from 'node:fs';
import { describeMachine, type Machine } from './machine.ts';
import type { FailedPeer } from './peers/probe-peer.ts';
import { printAims, printTable, type Report } from './table.ts';

const document = new URL('../../docs/benchmarks.md', import.meta.url);

/** The report, with the peers whose measurement failed. */
export const withFailedPeers = (report: Report, failed: readonly FailedPeer[]): Report => {
  const [table, ...others] = report.tables;
  if (failed.length === 0 || table === undefined) return report;
  const notes = [...new Set(failed.map(noteOf))];
  return {
    ...report,
    tables: [{ ...table, notes: [...table.notes, ...notes] }, ...others],
    figures: { ...report.figures, failed },
  };
};

const noteOf = ({ peer, reason }: FailedPeer): string =>
  `Not measured: ${peer} failed (${reason}). What is compared with it is missing.`;

/** A report as Markdown. */
export const printReport = (report: Report): string =>
  [...report.tables.map(printTable), ...(report.aims.length === 0 ? [] : [printAims(report.aims)])].join(
    '\n\n',
  );

const between = (name: string): RegExp =>
  new RegExp(`(<!-- bench:${name} -->\n)[\\s\\S]*?(<!-- /bench:${name} -->)`);

/**
 * Puts the tables between their marks in docs/benchmarks.md, each with the day and the machine it was measured on; the
 * words around them are written by hand and stay.
 *
 * @throws an Error if a mark is missing.
 */
export const writeReports = (reports: readonly Report[], machine: Machine, day: string): void => {
  let text = readFileSync(document, 'utf8');
  for (const report of reports) {
    if (!between(report.name).test(text))
      throw new Error(`docs/benchmarks.md has no place for ${report.name}`);
    const block = `\n${printReport(report)}\n\nMeasured ${day} on ${describeMachine(machine)}.\n\n`;
    text = text.replace(between(report.name), (_, begin: string, end: string) => begin + block + end);
  }
  writeFileSync(document, text);
};
