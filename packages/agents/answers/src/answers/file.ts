import { fail } from '@stemma/errors';
import type { ContractAnswer } from '../answer.ts';
import { foundChanges } from '../found-change.ts';

export const file: ContractAnswer<'file'> = async ({ home }, { history: name, path: given }) => {
  const { history } = await home.find(name);
  const path = given.replace(/^(?:\.\/)+/, '');
  const lives = await home.calls.file(history, path);
  if (lives.length === 0)
    throw fail(
      'E_FILES_NOT_RECORDED',
      `no run there had a file ${JSON.stringify(path.slice(0, 200))} that was recorded`,
    );
  const describe = foundChanges(home);
  const runs = [];
  for (const { run, startedAt, start, changes } of lives) {
    const described = [];
    for (const { change, before, after, ...found } of changes)
      described.push({ ...(await describe(found)), change, before, after });
    runs.push({ run, startedAt, start, changes: described });
  }
  return { history, path, runs };
};
