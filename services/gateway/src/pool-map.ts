import {
  compareRuns,
  mapVectors,
  nearestOf,
  principalComponents,
  seededRandom,
  unitVectors,
  vectorsFrom,
} from '@stemma/analysis';
import { cutText, type AnswerOf, type Endpoints, type InputOf } from '@stemma/api';
import { fail } from '@stemma/errors';
import { experimentReport, recordedArms, verdictDocument } from '@stemma/experiments';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { vectorOfText, viewPool } from '@stemma/pools';
import { experimentPage } from '@stemma/reports';
import { ASKS_NOBODY } from './asks-nobody.ts';

type PoolMapEndpoint = 'poolRows' | 'poolMap' | 'poolNear' | 'verdict' | 'report';
type PoolMapHandlers = {
  readonly [N in PoolMapEndpoint]: (input: InputOf<Endpoints[N]>) => Promise<AnswerOf<Endpoints[N]>>;
};

const EXCERPT = 300;
/** UMAP is computed for so many texts at most: its time grows with their square. */
const MOST_IN_UMAP = 1_500;
const MOST_PERMUTATIONS = 9_999;
const MOST_BRANCHES = 100;

/** Answers what the page asks of a pool at once. */
export const poolMapHandlers = (home: Home): PoolMapHandlers => {
  const embeddedAt = async ({
    history,
    at,
  }: {
    readonly history: string;
    readonly at?: string | undefined;
  }) => {
    const position = await home.position(await home.find(history), at);
    return { position: position.label, of: position.history, ...(await home.pools.embedded(position)) };
  };
  const armOf = async (history: string, list: string): Promise<readonly BranchRef[]> => {
    const names = list.split(',');
    if (names.length > MOST_BRANCHES) throw fail('E_USAGE', `an arm has at most ${MOST_BRANCHES} branches`);
    const branches: BranchRef[] = [];
    for (const name of names) branches.push(await home.find(`${history}:${name.trim()}`));
    return branches;
  };
  const armsOf = async ({
    history,
    a,
    b,
  }: {
    readonly history: string;
    readonly a: string;
    readonly b: string;
  }) => {
    const { history: id } = await home.find(history);
    return { id, arms: { a: await armOf(id, a), b: await armOf(id, b) } };
  };
  return {
    poolRows: async ({ history, at }) => {
      const { position, round, messages } = await viewPool(home, await home.find(history), at);
      return {
        history: position.history,
        branch_id: position.branchId,
        position: position.label,
        round,
        rows: messages.map(({ id, round: added, mindId, source, intervention, sampled, isActive, text }) => ({
          id,
          round: added,
          mind_id: mindId,
          source,
          intervention,
          sampled,
          active: isActive,
          characters: text.length,
          excerpt: cutText(text, EXCERPT),
        })),
      };
    },
    poolMap: async ({ seed = 0, ...where }) => {
      const { position, messages } = await embeddedAt(where);
      // Messages of one text lie on one point: a vector is that of a text.
      const rowOf = new Map<string, number>();
      const vectors: Float32Array[] = [];
      const rows = messages.map(({ contentHash, vector }) => {
        const key = Buffer.from(contentHash).toString('base64');
        const known = rowOf.get(key);
        if (known !== undefined) return known;
        rowOf.set(key, vectors.length);
        return vectors.push(vector) - 1;
      });
      const method = vectors.length <= MOST_IN_UMAP ? 'umap' : 'components';
      const points =
        vectors.length === 0
          ? []
          : method === 'umap'
            ? mapVectors(unitVectors(vectorsFrom(vectors)), { seed })
            : principalComponents(unitVectors(vectorsFrom(vectors)), seededRandom(seed));
      return {
        position,
        seed,
        method,
        texts: vectors.length,
        ids: messages.map(({ node }) => node),
        x: rows.map((row) => rounded(points[row]?.[0] ?? 0)),
        y: rows.map((row) => rounded(points[row]?.[1] ?? 0)),
      };
    },
    poolNear: async ({ message, text, limit = 20, ...where }) => {
      if ((message === undefined) === (text === undefined))
        throw fail('E_USAGE', 'what is near is asked of a `message` or of a `text`: name one');
      const { position, of, embedder, messages } = await embeddedAt(where);
      const self = messages.find(({ node }) => node === message);
      if (message !== undefined && self === undefined)
        throw fail('E_NODE_NOT_FOUND', `the pool has no message ${message} with a vector at ${position}`, {
          id: message,
        });
      const others = messages.filter((each) => each !== self);
      const near = nearestOf(
        others.map(({ vector }) => vector),
        self?.vector ?? (await vectorOfText(home, of, embedder, text ?? '', { minds: ASKS_NOBODY })),
        limit,
      );
      return {
        position,
        near: near.map(({ row, similarity }) => ({ id: others[row]?.node ?? '', similarity })),
      };
    },
    verdict: async (asked) => {
      const { permutations, seed } = chanceOf(asked);
      const { arms } = await armsOf(asked);
      const recorded = await recordedArms(home, arms);
      const found = compareRuns(recorded.a, recorded.b, { permutations, seed });
      return { of: recorded.kind, ...verdictDocument(found) };
    },
    report: async (asked) => {
      const { permutations, seed } = chanceOf(asked);
      const { id, arms } = await armsOf(asked);
      const branches = await home.branches.tree(id);
      const nameOf = ({ branchId }: BranchRef): string =>
        branches.find((each) => each.branchId === branchId)?.name ?? `:${branchId}`;
      const [a, b] = [arms.a[0], arms.b[0]] as [BranchRef, BranchRef];
      const more = (option: string, list: readonly BranchRef[]): readonly string[] =>
        list.length < 2 ? [] : [option, ...list.slice(1).map(({ branchId }) => String(branchId))];
      const command = [
        `stemma report ${id} --branches ${a.branchId},${b.branchId} -o report.html`,
        ...more('--runs', arms.a),
        ...more('--runs-b', arms.b),
        `--permutations ${permutations} --seed ${seed}`,
      ].join(' ');
      const names = { history: asked.history, a: nameOf(a), b: nameOf(b) };
      return experimentPage(
        await experimentReport(
          home,
          { names, arms, command },
          {
            verdict: async (ofA, ofB) => compareRuns(ofA, ofB, { permutations, seed }),
            layout: async (vectors) => mapVectors(unitVectors(vectorsFrom(vectors)), { seed }),
          },
        ),
      );
    },
  };
};

/** @throws E_USAGE for more permutations than are made over HTTP */
const chanceOf = ({
  permutations = 1_999,
  seed = 0,
}: {
  readonly permutations?: number | undefined;
  readonly seed?: number | undefined;
}) => {
  if (permutations > MOST_PERMUTATIONS)
    throw fail('E_USAGE', `a verdict over HTTP makes at most ${MOST_PERMUTATIONS} permutations`);
  return { permutations, seed };
};

/** More digits than a screen shows would only make the answer longer. */
const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;
