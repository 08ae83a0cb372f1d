import { fidelityText } from '@stemma/api';
import type { ErrorCode } from '@stemma/errors';
import type { Imported } from './import-found.ts';
import { printable, table } from './output.ts';

/** A file of which nothing could be recorded, or, with its place, a conversation of it. */
export type Refused = {
  readonly file: string;
  readonly place: string | null;
  readonly code: ErrorCode;
  readonly message: string;
};

/** What an import came to, for people. */
export const importReportText = (
  imported: readonly Imported[],
  refused: readonly Refused[],
  dry: boolean,
  width: number,
): string =>
  table(
    ['HISTORY', 'CALLS', 'MESSAGES', 'TOOLS', 'CYCLES', 'NODES', 'FORMAT', 'FILE'],
    imported.map((row) => [
      dry ? '(dry run)' : namesOf(row),
      ...[row.calls, row.messages, row.tool_calls, row.cycles, row.nodes].map((count) => String(count ?? '')),
      row.format,
      printable(row.file),
    ]),
    width,
  ) +
  imported.map(fidelityOf).join('') +
  imported.map(unknowns).join('') +
  sumsOf(imported, refused)
    .map((line) => `${line}\n`)
    .join('');

/** The history of a file, and how many further ones there are. */
const namesOf = ({ name, history, branchId, conversations }: Imported): string =>
  `${branchId === 0 ? '' : 'branch '}${name ?? history}${conversations > 1 ? ` and ${conversations - 1} more` : ''}`;

/** How true the picture of a file of another program is. */
const fidelityOf = ({
  file,
  version,
  fidelity = {},
  missing = {},
  dropped = {},
  unknown,
  skipped,
}: Imported): string => {
  if (Object.keys(unknown).length > 0 || Object.keys(skipped).length > 0) return '';
  const kinds = fidelityText({ fidelity });
  const lacks = Object.entries(missing).map(([part, count]) => `${part} of ${count}`);
  const left = Object.entries(dropped).map(([what, count]) => `${count} × ${what}`);
  const says = [
    ...(version === undefined ? [] : [`version ${version}`]),
    ...(kinds === '' ? [] : [`fidelity: ${kinds}`]),
    ...(lacks.length === 0 ? [] : [`missing: ${lacks.join(', ')}`]),
    ...(left.length === 0 ? [] : [`left out: ${left.join(', ')}`]),
  ];
  return says.length === 0 ? '' : `${printable(file)}: ${printable(says.join('; '))}\n`;
};

const sumsOf = (imported: readonly Imported[], refused: readonly Refused[]): readonly string[] => {
  const repeated = imported
    .flatMap((each) => each.histories ?? [each])
    .filter(({ repeated: before }) => before).length;
  const all = imported.reduce((sum, { conversations: count }) => sum + count, 0);
  const files = refused.filter(({ place }) => place === null).length;
  const parts = refused.length - files;
  return [
    ...(repeated === 0 ? [] : [`already there: ${conversations(repeated)}`]),
    ...(files === 0
      ? []
      : [`${files} of ${files + new Set(imported.map(({ file }) => file)).size} files were refused`]),
    ...(parts === 0
      ? []
      : [`${parts} of ${conversations(parts + all)} of the imported files could not be read`]),
  ];
};

const conversations = (count: number): string => `${count} ${count === 1 ? 'conversation' : 'conversations'}`;

const unknowns = ({ file, skipped, unknown }: Imported): string =>
  [
    ...Object.entries(skipped).map(([what, n]) => `skipped ${n} × ${what}`),
    ...Object.entries(unknown).map(([what, n]) => `kept ${n} × ${what}, unknown to the format`),
  ]
    .map((line) => `${printable(file)}: ${printable(line)}\n`)
    .join('');
