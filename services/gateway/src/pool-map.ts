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
import { recordedArms, verdictDocument } from '@stemma/experiments';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { vectorOfText, viewPool } from '@stemma/pools';
import { ASKS_NOBODY } from './asks-nobody.ts';

type PoolMapEndpoint = 'poolRows' | 'poolMap' | 'poolNear' | 'verdict';
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
    verdict: async ({ history, a, b, permutations = 1_999, seed = 0 }) => {
      if (permutations > MOST_PERMUTATIONS)
        throw fail('E_USAGE', `a verdict over HTTP makes at most ${MOST_PERMUTATIONS} permutations`);
      const { history: id } = await home.find(history);
      const arms = await recordedArms(home, { a: await armOf(id, a), b: await armOf(id, b) });
      const found = compareRuns(arms.a, arms.b, { permutations, seed });
      return { of: arms.kind, ...verdictDocument(found) };
    },
  };
};

/** More digits than a screen shows would only make the answer longer. */
const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;
