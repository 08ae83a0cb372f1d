import type { AttemptFidelity } from './attempts.ts';
import type { ImportAnswer } from './summaries.ts';

type Counts = { readonly [name: string]: number };

/** So many names of each list are told; the rest is counted. */
const MOST_TOLD = 8;

/** `12 calls`; undefined where the file says nothing. */
const counted = (count: number | undefined, one: string): string | undefined =>
  count === undefined ? undefined : `${count} ${count === 1 ? one : `${one}s`}`;

const listed = (parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join(', ');

/** The names, the most frequent first: `line queue-operation (12), field requestId (4) and 3 more`. */
const namesIn = (counts: Counts, tell: (name: string, count: number) => string): string => {
  const sorted = Object.entries(counts).sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  const told = sorted.slice(0, MOST_TOLD).map(([name, count]) => tell(name, count));
  const rest = sorted.length - told.length;
  return told.join(', ') + (rest === 0 ? '' : ` and ${rest} more`);
};

const withCount = (name: string, count: number): string => `${name} (${count})`;

const isNamed = (counts: Counts | undefined): counts is Counts =>
  counts !== undefined && Object.keys(counts).length > 0;

const FIDELITY_WORDS = {
  exact: 'byte for byte',
  same: 'with the same messages',
  reconstructed: 'reconstructed',
} as const;
const FIDELITIES = Object.entries(FIDELITY_WORDS) as readonly [AttemptFidelity['kind'], string][];

/** How true the picture of a call is, in a few words: `reconstructed, without tools and parameters`. */
export const fidelityNote = ({ kind, missing }: AttemptFidelity): string =>
  missing.length === 0 ? FIDELITY_WORDS[kind] : `${FIDELITY_WORDS[kind]}, without ${missing.join(', ')}`;

/** How true the calls are: `10 reconstructed, 2 byte for byte`. */
export const fidelityText = ({ fidelity = {} }: Pick<ImportAnswer, 'fidelity'>): string =>
  listed(
    FIDELITIES.map(([key, words]) => ((fidelity[key] ?? 0) > 0 ? `${fidelity[key]} ${words}` : undefined)),
  );

const sourceOf = ({ format, version }: ImportAnswer): string =>
  version === undefined ? format : `${format} ${version}`;

/** What a history was imported from, in one line: `imported from claude-code 2.1.7: 12 calls, 12 reconstructed; missing: tools`. */
export const importLine = (imported: ImportAnswer): string => {
  const facts = listed([counted(imported.calls, 'call'), fidelityText(imported) || undefined]);
  const missing = isNamed(imported.missing) ? `; missing: ${namesIn(imported.missing, (name) => name)}` : '';
  return `imported from ${sourceOf(imported)}${facts === '' ? '' : `: ${facts}`}${missing}`;
};

/** The same in sentences, one a line: its counts, how true they are, what is missing, what was dropped, and the warnings. */
export const importSentences = (imported: ImportAnswer): readonly string[] => {
  const { title, models, missing, dropped, warnings = [] } = imported;
  const facts = listed([
    counted(imported.calls, 'call'),
    counted(imported.messages, 'message'),
    counted(imported.tool_calls, 'tool call'),
    counted(imported.tool_errors, 'tool error'),
    counted(imported.compactions, 'compaction'),
  ]);
  const fidelity = fidelityText(imported);
  return [
    `Imported from ${sourceOf(imported)}${title === undefined ? '' : ` (${title})`}${facts === '' ? '' : `: ${facts}`}.`,
    ...(isNamed(models) ? [`Models: ${namesIn(models, withCount)}.`] : []),
    ...(fidelity === '' ? [] : [`Fidelity: ${fidelity}.`]),
    ...(isNamed(missing) ? [`Missing, by calls: ${namesIn(missing, withCount)}.`] : []),
    ...(isNamed(dropped) ? [`Not recorded: ${namesIn(dropped, withCount)}.`] : []),
    ...(warnings.length === 0
      ? []
      : [
          `Warnings: ${warnings.map(({ code, count, first }) => `${withCount(code, count)}, first at ${first}`).join('; ')}.`,
        ]),
  ];
};
