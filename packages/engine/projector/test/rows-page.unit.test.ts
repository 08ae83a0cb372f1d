import { RECORD_TABLES } from '@stemma/history-store';
import { ALL_FOLDS } from '@stemma/read-models';
import { ON_DEMAND } from '../src/on-demand/index.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { BEGIN, END, generatedPage } from './rows-page.ts';

const PAGE = join(import.meta.dirname, '../../../../docs/formats/rows.md');

it('the page on rows lists the tables that the code has; STEMMA_WRITE_DOCS=1 rewrites it', () => {
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(BEGIN);
  const [, after = ''] = rest.split(END);
  const expected = `${before}${BEGIN}\n\n${generatedPage([...RECORD_TABLES, ON_DEMAND], ALL_FOLDS)}\n\n${END}${after}`;
  if (process.env['STEMMA_WRITE_DOCS'] === '1') writeFileSync(PAGE, expected);
  else expect(page).toBe(expected);
});
