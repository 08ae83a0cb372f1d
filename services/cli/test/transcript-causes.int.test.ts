import { openHome } from '@stemma/home';
import type { ExplainedDiff } from '@stemma/queries';
import { expect, test } from 'vitest';
import { stemmaJson, temporaryFolder } from './run-stemma.ts';
import { someTranscripts } from './transcripts.ts';

type Imported = { readonly imported: readonly { readonly history: string }[] };

type Tally = { differences: number; unattributed: number; twice: number };

/** Counts the differences of a diff, and how often causes account for each. */
const tally = (counts: Tally, { added, removed, changed, entries }: ExplainedDiff): void => {
  const found = new Map<string, number>();
  const note = (key: string): void => void found.set(key, (found.get(key) ?? 0) + 1);
  for (const { id, change, causes } of entries)
    for (const { fields } of causes)
      if (change === 'changed') for (const field of fields) note(`${id} ${field}`);
      else note(id);
  const wanted = [
    ...added,
    ...removed,
    ...changed.flatMap(({ id, fields }) => fields.map((field) => `${id} ${field}`)),
  ];
  counts.differences += wanted.length;
  for (const key of wanted) {
    const times = found.get(key) ?? 0;
    if (times === 0) counts.unattributed++;
    if (times > 1) counts.twice++;
    found.delete(key);
  }
  counts.twice += found.size;
};

test(
  'between any two consecutive positions of real transcripts every difference has one cause, and along the whole of one none is without',
  { tags: ['context-tree§3:one-cause', 'PACT-06§6'], timeout: 600_000 },
  async (context) => {
    if (someTranscripts.length === 0)
      context.skip('no recorded transcripts lie beside the checkout (STEMMA_TRANSCRIPTS)');
    using folder = temporaryFolder();
    const files = someTranscripts.map(({ file }) => file);
    const { imported } = (await stemmaJson(['import', ...files, '--home', folder.path])) as Imported;
    const home = await openHome({ directory: folder.path });
    try {
      const counts: Tally = { differences: 0, unattributed: 0, twice: 0 };
      for (const { history } of imported) {
        const branchRef = await home.find(history);
        const { frames } = await home.read.history(history);
        let before = await home.position(branchRef, '@s0');
        for (let seq = 1; seq < frames; seq++) {
          const at = await home.position(branchRef, `@s${seq}`);
          tally(counts, await home.queries.causes.explain(before, at));
          before = at;
        }
        const whole = await home.queries.causes.explain(await home.position(branchRef, '@s0'), before);
        expect(whole.entries.filter(({ causes }) => causes.length === 0)).toEqual([]);
      }
      expect(counts).toMatchObject({ unattributed: 0, twice: 0 });
      expect(counts.differences).toBeGreaterThan(someTranscripts.length * 20);
    } finally {
      await home.close();
    }
  },
);
