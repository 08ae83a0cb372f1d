import { answerInRunFile, createClient, type RunFile } from '@stemma/api';
import { render } from 'preact';
import { createQueries } from '../asking/queries.ts';
import { RunPage } from './run-page.tsx';
import '../style/tokens.css';
import '../style/layout.css';
import '../style/lists.css';
import '../style/panes.css';
import '../style/film.css';
import '../style/rows.css';
import '../style/run-file.css';

const NOT_THERE = JSON.stringify({
  error: {
    code: 'E_NOT_FOUND',
    message: 'this file does not have it',
    help: 'Ask who made the file.',
    detail: {},
  },
});

/** The page of a file that `stemma export` wrote: what it asks for is in the file, and nothing else is asked. */
const file = JSON.parse(document.getElementById('run')?.textContent ?? 'null') as RunFile | null;
const root = document.getElementById('app');
if (file !== null && root !== null) {
  const client = createClient((url, { method }) => {
    const text = method === 'GET' ? answerInRunFile(file, url) : undefined;
    return Promise.resolve({
      ok: text !== undefined,
      status: text === undefined ? 404 : 200,
      text: () => Promise.resolve(text ?? NOT_THERE),
    });
  }, '');
  render(<RunPage file={file} queries={createQueries(client)} />, root);
}
