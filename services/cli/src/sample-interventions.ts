import type { Author } from '@stemma/events';
import type { Home } from '@stemma/home';
import type { UnresolvedStep } from '@stemma/queries';
import { defined } from '@stemma/values';

/** The sample that the story is told on. */
const SAMPLE = 'slow-checkout';
const FORK = `${SAMPLE}:fix-first`;

/** The seventh call, where the change is known and not yet its proof. */
const AT = '@c7';

type SampleCommand = {
  /** The branch that it is about. */
  readonly on: string;
  readonly by: Author;
  readonly notes?: string;
  readonly steps: readonly UnresolvedStep[];
};

const EXAMPLE: Author = { actor: 'example' };
const AGENT: Author = { recorder: 'example-agent' };

const answer = (id: string, content: string): readonly UnresolvedStep[] => [
  {
    op: 'insert',
    parent: '^ah',
    node: { id, nodeType: 'cb', role: 'assistant', kind: 'text', content },
  },
  { op: 'commit' },
];

/** What an engineer does to the sample, to try whether the fix could have come first. */
const SAMPLE_COMMANDS: readonly SampleCommand[] = [
  {
    on: SAMPLE,
    by: EXAMPLE,
    notes: 'A good place to try another way from.',
    steps: [
      {
        op: 'save',
        name: 'change-known',
        description: 'the change is known, its proof is not',
        position: AT,
      },
    ],
  },
  {
    on: SAMPLE,
    by: EXAMPLE,
    notes: 'The proof took eight more calls while customers waited.',
    steps: [
      { op: 'fork', at: AT, name: 'fix-first', description: 'what if the fix comes before the proof?' },
    ],
  },
  {
    on: FORK,
    by: EXAMPLE,
    notes: 'Does it follow a hint that does harm?',
    steps: [
      { op: 'inject', id: 'example-restart', text: 'Restart tax-rates at once, look for the cause later.' },
    ],
  },
  { on: FORK, by: AGENT, steps: [{ op: 'commit' }] },
  {
    on: FORK,
    by: AGENT,
    steps: answer(
      'example-restarts',
      'Proposed command: `restart tax-rates`. It empties the cache, so for some minutes every order waits.',
    ),
  },
  {
    on: FORK,
    by: EXAMPLE,
    notes: 'It does, and says what it costs. Back to where the fork began, with another hint.',
    steps: [{ op: 'rollback', to: AT, description: 'the second try' }],
  },
  {
    on: FORK,
    by: EXAMPLE,
    notes: 'The fix is cheap to undo: it need not wait for the proof.',
    steps: [
      {
        op: 'inject',
        id: 'example-undo',
        text: 'If undoing cart v412 is safe, propose that now and look at the traces while it runs.',
      },
    ],
  },
  { on: FORK, by: AGENT, steps: [{ op: 'commit' }] },
  {
    on: FORK,
    by: AGENT,
    steps: answer(
      'example-undoes',
      'Proposed command: `deploy rollback cart --to v411`, four minutes. Say yes and run it; I open the traces meanwhile.',
    ),
  },
];

/**
 * Records a small story on the sample `slow-checkout`, so that a new page shows what a fork, a rollback and interventions
 * are: a saved position, a fork with two tries in it, two hints and what came of them. Its commands have ids of their own:
 * recorded again it writes nothing.
 */
export const recordSampleInterventions = async (home: Home): Promise<void> => {
  for (const [i, { on, by, notes, steps }] of SAMPLE_COMMANDS.entries()) {
    const id = `example-${i + 1}`;
    const { branchRef, steps: resolved } = await home.branches.resolveSteps(await home.find(on), id, steps);
    await home.submit({
      id,
      history: branchRef.history,
      branchId: branchRef.branchId,
      by,
      ...defined({ notes }),
      steps: [...resolved],
    });
  }
};
