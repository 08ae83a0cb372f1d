import { visibleText } from '@stemma/errors';
import type { Intervention } from '@stemma/queries';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { interventionLines } from '../src/index.ts';

const one = (more: Partial<Intervention> = {}): Intervention => ({
  id: 'a',
  timestamp: '2026-01-05T09:00:00.000Z',
  actor: 'ana',
  intervention_type: 'message_inject',
  content: { text: 'hello', source: 'manual' },
  snapshot_before: '@s1',
  snapshot_after: '@s2',
  notes: '',
  history: 'h1',
  branch: 'h1',
  branchId: 0,
  seq: 2,
  annotations: [],
  ...more,
});

const written = async (list: readonly Intervention[], format: 'jsonl' | 'csv'): Promise<string> => {
  let text = '';
  const source = (async function* () {
    yield* list;
  })();
  for await (const piece of interventionLines(source, format)) text += piece;
  return text;
};

/** CSV as RFC 4180 has it. */
const cellsOf = (text: string): string[][] => {
  const rows: string[][] = [];
  let [row, cell, quoted]: [string[], string, boolean] = [[], '', false];
  for (let i = 0; i < text.length; i++) {
    const c = text[i] as string;
    if (quoted && c === '"' && text[i + 1] === '"') cell += text[++i] ?? '';
    else if (c === '"') quoted = !quoted;
    else if (!quoted && c === ',') [row, cell] = [[...row, cell], ''];
    else if (!quoted && c === '\r' && text[i + 1] === '\n') {
      rows.push([...row, cell]);
      [row, cell] = [[], ''];
      i++;
    } else cell += c;
  }
  return rows;
};

it(
  'writes one JSON document per line, which reads back as the intervention',
  { tags: ['pool:Interventions'] },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'binary' })), async (texts) => {
        const list = texts.map((text) => one({ notes: text, content: { text } }));
        const lines = (await written(list, 'jsonl')).split('\n').slice(0, -1);

        expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(list);
        expect(lines.map(visibleText)).toEqual(lines);
      }),
    );
  },
);

it(
  'writes CSV that reads back as what it shows, without invisible characters and without formulas for a spreadsheet',
  { tags: ['pool:Interventions'] },
  async () => {
    const formulas = [
      '=1+1',
      '+1',
      '-1',
      '@sum(a1)',
      '\t=1',
      '\r=1',
      '\n=1',
      ' =1',
      '=cmd|" /c calc"!a1',
      '＝1',
      '%0A',
      '|x',
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.constantFrom(...formulas), fc.string({ unit: 'binary' })),
        fc.string(),
        async (notes, id) => {
          const [, row = []] = cellsOf(await written([one({ notes, id, content: { text: notes } })], 'csv'));

          expect(row).toHaveLength(12);
          expect([visibleText(notes), `'${visibleText(notes)}`]).toContain(row[9]);
          expect([visibleText(id), `'${visibleText(id)}`]).toContain(row[0]);
          expect(visibleText(row.join(''))).toBe(row.join(''));
          expect(JSON.parse(row[10] ?? '')).toEqual({ text: notes });
          for (const cell of row) expect(cell).not.toMatch(/^[\s\0]*[=+\-@|%＝＋－＠]|^[\t\r\n]/);
        },
      ),
    );
  },
);
