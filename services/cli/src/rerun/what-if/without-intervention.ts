import { fail } from '@stemma/errors';
import type { ReadRun } from '@stemma/reruns';
import type { WhatIfKind, WhatIfSources } from './what-if.ts';

/** `--without @s12`: what the model says to what the agent itself sent. */
export const withoutIntervention: WhatIfKind = {
  name: 'without',
  option: [
    '--without <intervention>',
    '@s12: as if nobody had intervened: from the first call that showed it on, what the agent sends goes to its provider',
  ],
  read: async (given, { home, run }) => {
    const [, digits] = /^@s(\d{1,15})$/.exec(given) ?? [];
    if (digits === undefined)
      throw fail(
        'E_USAGE',
        `--without is the frame of an intervention, @s12, not ${JSON.stringify(given.slice(0, 200))}: stemma interventions lists them`,
      );
    const from = await firstThatShows(home, run, Number(digits));
    if (from !== undefined) return { from, description: `rerun: without ${given}`, edit: null, answer: null };
    throw fail('E_USAGE', `no call of the run went out with what ${given} changed`);
  },
};

/** The earliest recorded call whose request an intervention changed. */
const firstThatShows = async (
  home: WhatIfSources['home'],
  { recording, attempts }: ReadRun,
  seq: number,
): Promise<string | undefined> => {
  const cycles = recording.conversations.flatMap((conversation) => conversation.cycles);
  const inTime = [...cycles].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  for (const { label, attempts: tried } of inTime)
    for (const { id } of tried) {
      const { steered } = await home.calls.find(attempts.get(id)?.history ?? '', id);
      if (steered?.changes.some((change) => change.what !== 'lost' && change.seq === seq) === true)
        return label;
    }
  return undefined;
};
