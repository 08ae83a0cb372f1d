/** A table as it is printed and as docs/benchmarks.md shows it. */
export type Table = {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** What must be known to read it. */
  readonly notes: readonly string[];
};

/** An aim, and what came of it. */
export type Aim = {
  readonly what: string;
  readonly aim: string;
  readonly measured: string;
  readonly met: boolean;
};

/** Where a benchmark writes, whether sizes are small, and how often each measurement is repeated. */
export type BenchmarkOptions = {
  readonly directory: string;
  readonly quick: boolean;
  readonly rounds: number;
  /** The one row to measure. */
  readonly only?: string;
};

/** What one of the benchmarks gives: tables for people, figures for programs. */
export type Report = {
  readonly name: string;
  readonly tables: readonly Table[];
  readonly aims: readonly Aim[];
  readonly figures: Readonly<Record<string, unknown>>;
};

const line = (cells: readonly string[], widths: readonly number[]): string =>
  `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join(' | ')} |`;

const grid = (columns: readonly string[], rows: readonly (readonly string[])[]): string => {
  const widths = columns.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(columns, widths), line(rule, widths), ...rows.map((row) => line(row, widths))].join('\n');
};

/** Markdown that is as readable in a terminal. */
export const printTable = (table: Table): string =>
  [
    `### ${table.title}`,
    '',
    grid(table.columns, table.rows),
    '',
    ...table.notes.map((note) => `- ${note}`),
  ].join('\n');

export const printAims = (aims: readonly Aim[]): string =>
  grid(
    ['aim', 'wanted', 'measured', 'met'],
    aims.map(({ what, aim, measured, met }) => [
      what,
      aim,
      measured,
      measured.startsWith('–') ? 'not measured' : met ? 'yes' : 'no',
    ]),
  );

/** Three significant digits, thousands set apart: figures of a shared machine carry no more. */
export const figure = (value: number): string => {
  if (!Number.isFinite(value)) return '–';
  const digits = Number(value.toPrecision(3));
  const [whole = '', fraction] = Math.abs(digits) < 1e21 ? plain(digits).split('.') : [String(digits)];
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
};

const plain = (value: number): string =>
  Math.abs(value) >= 1e-6 || value === 0 ? String(value) : value.toFixed(9);

export const bytes = (value: number): string => {
  if (value >= 1e9) return `${figure(value / 1e9)} GB`;
  if (value >= 1e6) return `${figure(value / 1e6)} MB`;
  return `${figure(value / 1e3)} kB`;
};

/** How many times: `×12`. */
export const times = (ratio: number): string => `${figure(ratio)} ×`;
