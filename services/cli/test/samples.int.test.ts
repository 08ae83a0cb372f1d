import { openHome, type Home } from '@stemma/home';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Output } from '../src/output.ts';
import { recordSampleInterventions } from '../src/sample-interventions.ts';
import { importSamples } from '../src/samples.ts';
import { temporaryFolder } from './run-stemma.ts';

const SAID = ['imported the samples harbour-tram, night-ferry, slow-checkout'];

const folder = temporaryFolder();
let home: Home;
const said: string[] = [];
const output = { say: (text: string) => void said.push(text) } as Output;
const frames = async () => (await home.read.histories()).map(({ name, frames: count }) => [name, count]);

beforeAll(async () => {
  home = await openHome({ directory: folder.path, create: true });
  await importSamples(home, output);
});
afterAll(async () => {
  await home.close();
  folder[Symbol.dispose]();
});

test(
  'a new home gets the samples, one of them with a fork, a rollback, a saved position and interventions',
  { tags: ['pool:Interventions'] },
  async () => {
    expect(said).toEqual(SAID);
    const branchRef = await home.find('slow-checkout');
    const branches = await home.branches.tree(branchRef.history);
    expect(
      branches.map(({ name, how, parent, cycle, abandoned_by: left_by }) => [
        name,
        how,
        parent?.label,
        cycle,
        left_by,
      ]),
    ).toEqual([
      ['main', 'start', undefined, 18, null],
      [null, 'fork', '@c7', 9, branches[2]?.branchId],
      ['fix-first', 'rollback', '@c7', 9, null],
    ]);
    expect(
      (await home.branches.saved(branchRef.history)).map(({ id, round_number }) => [id, round_number]),
    ).toContainEqual(['change-known', 7]);
    const { interventions } = await home.queries.audit.interventions(branchRef);
    expect(interventions.map(({ intervention_type, actor }) => [intervention_type, actor])).toEqual(
      ['save', 'fork', 'message_inject', 'rollback', 'message_inject'].map((type) => [type, 'example']),
    );
    const impact = await home.queries.audit.impact(branchRef.history, 'example-7');
    expect(impact.counts).toEqual({ calls: 2, direct: 2, derived: 0 });
    // The sample itself goes on as it was recorded.
    expect((await home.position(branchRef)).cycle).toBe(18);
  },
);

test(
  'a second start writes nothing, and neither does importing the samples again',
  { tags: ['record§3:commands-remembered'] },
  async () => {
    const before = await frames();
    await importSamples(home, output);
    await recordSampleInterventions(home);
    expect(await frames()).toEqual(before);
    expect(said).toEqual(SAID);
  },
);
