import { open, say, start, temporaryHome } from '@stemma/test-kit/home';
import { expect, test } from 'vitest';

/** Texts of different lengths at equal numbers of frames: what is counted of one history fits no other. */
const TEXTS = {
  short: ['one', 'two', 'three'],
  long: ['a sentence of eight words, no more', 'and another one that is a little longer', 'four'],
};

test(
  'a position has the same counts on either side of a comparison and in every other answer, whatever it is compared with',
  { tags: ['context-tree§7:shape'] },
  async () => {
    using folder = temporaryHome();
    const home = await open(folder.directory);
    for (const [name, texts] of Object.entries(TEXTS)) {
      await start(home, name);
      for (const text of texts) await say(home, name, text);
    }
    const positions = Object.entries(TEXTS).flatMap(([name, texts]) =>
      texts.map((_, i) => ({ name, at: `@c${i + 1}` })),
    );
    for (const a of positions) {
      const branch = await home.find(a.name);
      const { sizes } = await home.queries.questions.sizes(branch, {});
      const alone = sizes.find(({ cycle }) => `@c${cycle}` === a.at);
      for (const b of positions) {
        const there = await home.queries.audit.compare(branch, a.at, `${b.name}${b.at}`);
        const back = await home.queries.audit.compare(await home.find(b.name), b.at, `${a.name}${a.at}`);
        expect(there.a.tokens).toBe(alone?.tokens);
        expect(back.b.tokens).toBe(alone?.tokens);
        const nodesOf = ({ added }: typeof there.a) => added.map(({ id, tokens }) => [id, tokens]);
        expect(nodesOf(there.a)).toEqual(nodesOf(back.b));
        expect(nodesOf(there.b)).toEqual(nodesOf(back.a));
      }
    }
    await home.close();
  },
);
