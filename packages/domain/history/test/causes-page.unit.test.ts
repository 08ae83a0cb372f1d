import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CAUSES } from '../src/causes/cause.ts';

const PAGE = join(import.meta.dirname, '../../../../docs/causes.md');
const [BEGIN, END] = [
  '<!-- generated from the table of causes: begin -->',
  '<!-- generated from the table of causes: end -->',
];

const table = (): string =>
  [
    '| cause | recorded as | accounts for | what it says |',
    '|---|---|---|---|',
    ...CAUSES.map(
      ({ kind, op, event, explains, says }) =>
        `| \`${kind}\`${op === null ? '' : ` \`${op}\``} | ${event} | ${explains} | ${says} |`,
    ),
  ].join('\n');

it('the page on causes lists the causes that the code knows; STEMMA_WRITE_DOCS=1 rewrites it', () => {
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(BEGIN);
  const [, after = ''] = rest.split(END);
  const expected = `${before}${BEGIN}\n\n${table()}\n\n${END}${after}`;
  if (process.env['STEMMA_WRITE_DOCS'] === '1') writeFileSync(PAGE, expected);
  else expect(page).toBe(expected);
});
