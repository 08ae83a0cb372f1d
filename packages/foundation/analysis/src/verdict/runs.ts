/** A text that a step says, and what it is about: texts are compared with those about the same (pool §7.5). */
export type RunText = {
  /** What was decided when it was said. */
  readonly about: string;
  readonly text: string;
  /** Its vector; without one, the built-in embedder makes it. */
  readonly vector?: Float32Array;
};

/** One step of a run, a round of a pool or a call of an agent: what was chosen in it, and what was said. */
export type RunStep = {
  /** By the name of the choice: what was chosen, in words that mean the same in all runs. */
  readonly choices: Readonly<Record<string, readonly string[]>>;
  readonly texts: readonly RunText[];
};

/** A run that was recorded. */
export type RecordedRun = { readonly name: string; readonly steps: readonly RunStep[] };

/** What is divided at random: a whole run, or some steps of one. */
export type RunUnit = { readonly isB: boolean; readonly steps: readonly RunStep[] };

/** What the units of a test are. */
export type UnitKind = 'runs' | 'steps';

/** Pieces into which a run is cut where there are too few runs. */
const PIECES = 10;

/**
 * The units of two arms: their runs. Where these can be divided in too few ways for p to be as small as `alpha`, or where the caller takes
 * steps to be independent of each other, pieces of successive steps.
 */
export const unitsOf = (
  a: readonly RecordedRun[],
  b: readonly RecordedRun[],
  alpha: number,
  wanted: UnitKind,
): { readonly kind: UnitKind; readonly units: readonly RunUnit[]; readonly isEnough: boolean } => {
  const areEnough = divisions(a.length + b.length, a.length) >= 1 / alpha;
  if (wanted === 'runs' && areEnough)
    return { kind: 'runs', units: [...unitsIn(a, false), ...unitsIn(b, true)], isEnough: true };
  const [ofA, ofB] = [a.flatMap(piecesOf), b.flatMap(piecesOf)];
  const isEnough = wanted === 'steps' && divisions(ofA.length + ofB.length, ofA.length) >= 1 / alpha;
  return { kind: 'steps', units: [...unitsIn(ofA, false), ...unitsIn(ofB, true)], isEnough };
};

const unitsIn = (runs: readonly { readonly steps: readonly RunStep[] }[], isB: boolean): readonly RunUnit[] =>
  runs.map(({ steps }) => ({ isB, steps }));

/** The fewest runs in each of two arms that can be divided in enough ways. */
export const leastRuns = (alpha: number): number => {
  let runs = 1;
  while (divisions(2 * runs, runs) < 1 / alpha) runs++;
  return runs;
};

/** In how many ways `n` things can be divided into `k` and the others; at most 1e9. */
const divisions = (n: number, k: number): number => {
  let ways = 1;
  for (let i = 1; i <= k && ways < 1e9; i++) ways = (ways * (n - k + i)) / i;
  return ways;
};

const piecesOf = ({ steps }: RecordedRun): readonly { readonly steps: readonly RunStep[] }[] => {
  const pieces = Math.min(PIECES, steps.length);
  const start = (i: number): number => Math.floor((i * steps.length) / pieces);
  return Array.from({ length: pieces }, (_, i) => ({ steps: steps.slice(start(i), start(i + 1)) }));
};
