import { toWireJson } from '@stemma/api';
import { visibleText } from '@stemma/errors';
import type { Intervention } from '@stemma/queries';

export const INTERVENTION_FORMATS = ['jsonl', 'csv'] as const;
export type InterventionFormat = (typeof INTERVENTION_FORMATS)[number];

/** The number of characters returned at a time. */
const CHUNK = 64 * 1024;

/**
 * Interventions as JSON Lines, or as CSV (RFC 4180: a head, CRLF, UTF-8), in pieces as they come, so that any number of
 * them takes the same memory. Positions are frame numbers in CSV, `@s57` in JSON. Hidden characters stand there as
 * escapes: in JSON they mean the characters, in CSV they only show them.
 */
export const interventionLines = async function* (
  source: AsyncIterable<Intervention>,
  format: InterventionFormat,
): AsyncIterable<string> {
  let waiting = format === 'csv' ? csvLine(HEAD) : '';
  for await (const intervention of source) {
    waiting +=
      format === 'csv' ? csvLine(cellsOf(intervention)) : `${visibleText(toWireJson(intervention))}\n`;
    if (waiting.length < CHUNK) continue;
    yield waiting;
    waiting = '';
  }
  if (waiting !== '') yield waiting;
};

const HEAD = [
  'id',
  'timestamp',
  'actor',
  'intervention_type',
  'history',
  'branch',
  'seq',
  'snapshot_before',
  'snapshot_after',
  'notes',
  'content',
  'annotations',
];

const cellsOf = (one: Intervention): readonly string[] => [
  one.id,
  one.timestamp,
  one.actor,
  one.intervention_type,
  one.history,
  one.branch,
  String(one.seq),
  one.snapshot_before?.slice(2) ?? '',
  one.snapshot_after.slice(2),
  one.notes,
  toWireJson(one.content),
  one.annotations.length === 0 ? '' : toWireJson(one.annotations),
];

const csvLine = (cells: readonly string[]): string => `${cells.map(csvCell).join(',')}\r\n`;

/**
 * A cell. What a spreadsheet would take for a formula gets an apostrophe in front, which it shows as text; it is put in
 * front of blanks too, since some programs trim them first.
 */
const csvCell = (text: string): string => {
  const shown = visibleText(text);
  const formula = /^[\s\u0000]*[=+\-@|%\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/.test(text);
  const safe = formula ? `'${shown}` : shown;
  return /[",\n\t';]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
