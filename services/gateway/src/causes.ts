import { type AnswerOf, type Endpoints, type InputOf, positionAnswer } from '@stemma/api';
import type { Home } from '@stemma/home';
import { restrictExplained, type NodeTimelineEntry } from '@stemma/queries';
import { defined } from '@stemma/values';

type CauseEndpoint = 'diff' | 'why';
type CauseHandlers = {
  readonly [Name in CauseEndpoint]: (input: InputOf<Endpoints[Name]>) => Promise<AnswerOf<Endpoints[Name]>>;
};

/** What answers the questions about why. */
export const causeHandlers = (home: Home): CauseHandlers => ({
  diff: async ({ history, a, b, explain, selector }) => {
    const branchRef = await home.find(history);
    const found = await home.diff(branchRef, a, b, selector);
    if (explain !== '1') return diffAnswer(found);
    const [older, newer] = [await home.position(branchRef, a), await home.position(branchRef, b)];
    const { entries, moves, mergeBase, ...diff } = restrictExplained(
      await home.causes.explain(older, newer),
      found,
    );
    return {
      ...diffAnswer(diff),
      a: positionAnswer(older),
      b: positionAnswer(newer),
      mergeBase,
      entries: entries.map(({ fields, causes, ...entry }) => ({
        ...entry,
        fields: [...fields],
        causes: causes.map((cause) => ({ ...cause, fields: [...cause.fields] })),
      })),
      moves: [...moves],
    };
  },
  why: async ({ history, node, at }) => {
    const position = await home.position(await home.find(history), at);
    const { added, changes, removed, ...rest } = await home.causes.why(position, node);
    return {
      ...rest,
      position: positionAnswer(position),
      added: entryAnswer(added),
      changes: changes.map(entryAnswer),
      removed: removed === null ? null : entryAnswer(removed),
    };
  },
});

type FoundDiff = Awaited<ReturnType<Home['diff']>>;

const diffAnswer = ({ added, removed, changed }: FoundDiff) => ({
  added: [...added],
  removed: [...removed],
  changed: changed.map(({ id, fields }) => ({ id, fields: [...fields] })),
});

const entryAnswer = ({ explains, redacted, ...rest }: NodeTimelineEntry) => ({
  ...rest,
  ...defined({ redacted: redacted?.map((one) => ({ ...one })) }),
  explains: typeof explains === 'string' ? explains : [...explains],
});
