import { openFilmstrip } from '../src/filmstrip/filmstrip.ts';
import { HISTORIES, keepsAnswers } from './recorded/keeps-answers.ts';

keepsAnswers('filmstrips', async ({ ask, projector }) => {
  const strip = openFilmstrip(projector);
  for (const history of HISTORIES) {
    const { cells, next } = await strip.page(history, { limit: 10_000 });
    for (const { branchId, cycle, roles, interventions, ...cell } of cells) {
      const about = `${history.slice(0, 6)} branch ${branchId} @c${cycle}`;
      await ask(about, () => cell);
      await ask(`${about} roles`, () => roles);
      if (interventions.length > 0) await ask(`${about} interventions`, () => interventions);
    }
    await ask('what follows', () => next);
  }
  await ask('no such history', () => strip.page('haaaaaaaaaaaaaaaaaaaa', { limit: 1 }));
});
