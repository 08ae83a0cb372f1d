import type { MeasuredDifference, RunVerdict, VerdictPart } from '@stemma/analysis';

const differenceDocument = ({ name, effect, interval, p }: MeasuredDifference) => ({
  name,
  effect,
  interval: interval === null ? null : [interval.low, interval.high],
  p,
});

const partDocument = ({ p, isDifferent, size, power, needed, differences }: VerdictPart) => ({
  p,
  different: isDifferent,
  size,
  power,
  needed,
  differences: differences.map(differenceDocument),
});

/** A verdict as JSON. */
export const verdictDocument = (found: RunVerdict) => ({
  verdict: found.verdict,
  judged: found.isJudged,
  units: found.units,
  a: found.a,
  b: found.b,
  alpha: found.alpha,
  permutations: found.permutations,
  seed: found.seed,
  decisions: partDocument(found.decisions),
  telling: partDocument(found.telling),
});
