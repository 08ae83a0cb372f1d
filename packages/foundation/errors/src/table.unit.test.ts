import { expect, it } from 'vitest';
import { ERRORS, errorToHttpJson, errorToJson, fail } from './index.ts';

it('the help of an error over HTTP names no command or option of the command line', () => {
  const helps = Object.entries(ERRORS).map(([code, { helpOverHttp }]) => `${code} ${helpOverHttp}`);
  expect(helps.filter((help) => /`stemma|(^|\s)--\w/.test(help))).toEqual([]);
  const error = fail('E_HISTORY_NOT_FOUND', 'there is no history x');
  expect(errorToJson(error).error.help).toContain('stemma histories');
  expect(errorToHttpJson(error).error.help).toContain('GET /api/histories');
});
