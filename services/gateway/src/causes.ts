import type { AnswerOf, Endpoints, InputOf } from '@stemma/api';
import type { Home } from '@stemma/home';
import { restrictExplained, type WhyMoment } from '@stemma/queries';
import { positionAnswer } from './lines.ts';

type Question = 'diff' | 'why';
type CauseHandlers = {
  readonly [Name in Question]: (input: InputOf<Endpoints[Name]>) => Promise<AnswerOf<Endpoints[Name]>>;
};

/** What answers the questions about why. */
export const causeHandlers = (home: Home): CauseHandlers => ({
  diff: async ({ history, a, b, explain, selector }) => {
    const line = await home.find(history);
    const found = await home.diff(line, a, b, selector);
    if (explain !== '1') return plain(found);
    const [older, newer] = [await home.position(line, a), await home.position(line, b)];
    const { entries, moves, common, ...diff } = restrictExplained(
      await home.causes.explain(older, newer),
      found,
    );
    return {
      ...plain(diff),
      a: positionAnswer(older),
      b: positionAnswer(newer),
      common,
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
    const { came, then, left, ...rest } = await home.causes.why(position, node);
    return {
      ...rest,
      position: positionAnswer(position),
      came: moment(came),
      then: then.map(moment),
      left: left === null ? null : moment(left),
    };
  },
});

type Plain = Awaited<ReturnType<Home['diff']>>;

const plain = ({ added, removed, changed }: Plain) => ({
  added: [...added],
  removed: [...removed],
  changed: changed.map(({ id, fields }) => ({ id, fields: [...fields] })),
});

const moment = ({ explains, ...rest }: WhyMoment) => ({
  ...rest,
  explains: typeof explains === 'string' ? explains : [...explains],
});
