import { embedText } from '../embed-text.ts';
import { termsOf } from '../terms/terms.ts';
import type { DivisionStatistic } from './max-test.ts';
import type { RunText, RunUnit } from './runs.ts';

/** What is compared of how things are told. */
const TELLING = ['wording', 'length', 'style'] as const;
export type TellingName = (typeof TELLING)[number];

/** A smaller distance is what rounding makes of equal texts. */
const ROUNDING = 1e-12;

/** The vectors of all texts in one respect, by unit. */
type Measured = { readonly dimension: number; readonly units: readonly (readonly Float64Array[])[] };

/** Statistics of how two arms tell the same things, and how much texts vary beside what the arm explains. */
export type Telling = {
  readonly statistics: Readonly<Record<TellingName, DivisionStatistic>>;
  /** The share of the variation of texts about the same that the arm explains, for a value of a statistic. */
  readonly share: (name: TellingName, value: number) => number;
  /** The value of a statistic that explains this share. */
  readonly valueOf: (name: TellingName, share: number) => number;
};

/**
 * How differently two arms tell the same things: the squared distance between the means of their texts, estimated without bias by
 * products of texts of different units, of texts about the same thing only, so that who tells of other things does not tell them
 * otherwise (the MMD with a linear kernel; Gretton et al., "A kernel two-sample test", 2012).
 */
export const tellingOf = (units: readonly RunUnit[]): Telling => {
  const texts = units.map(({ steps }) => steps.flatMap((step) => step.texts));
  const measured: Readonly<Record<TellingName, Measured>> = {
    wording: measure(texts, ({ text, vector }) => vector ?? embedText(text)),
    length: scaled(measure(texts, ({ text }) => [Math.log1p(termsOf(text).length)])),
    style: scaled(measure(texts, ({ text }) => styleOf(text))),
  };
  const about = texts.map((ofUnit) => ofUnit.map((text) => text.about));
  const parts = Object.fromEntries(
    TELLING.map((name) => [
      name,
      { distance: meanDistance(measured[name], about), variance: varianceOf(measured[name], about) },
    ]),
  ) as Record<TellingName, { distance: DivisionStatistic; variance: number }>;
  return {
    statistics: Object.fromEntries(TELLING.map((name) => [name, parts[name].distance])) as Record<
      TellingName,
      DivisionStatistic
    >,
    share: (name, value) => {
      const explained = value <= ROUNDING ? 0 : value / 4;
      const { variance } = parts[name];
      return explained === 0 ? 0 : explained / Math.max(explained, variance);
    },
    valueOf: (name, share) => 4 * share * parts[name].variance,
  };
};

const measure = (
  texts: readonly (readonly RunText[])[],
  vectorOf: (text: RunText) => ArrayLike<number>,
): Measured => {
  const units = texts.map((ofUnit) => ofUnit.map((text) => Float64Array.from(vectorOf(text))));
  return { dimension: units.flat()[0]?.length ?? 0, units };
};

/** Each number divided by its standard deviation over all texts, so that none counts for more because of its unit. */
const scaled = ({ dimension, units }: Measured): Measured => {
  const all = units.flat();
  const means = new Float64Array(dimension);
  for (const vector of all) for (let k = 0; k < dimension; k++) means[k]! += vector[k]! / all.length;
  const squares = new Float64Array(dimension);
  for (const vector of all)
    for (let k = 0; k < dimension; k++) squares[k]! += (vector[k]! - means[k]!) ** 2 / all.length;
  const spread = squares.map(Math.sqrt);
  return {
    dimension,
    units: units.map((ofUnit) =>
      ofUnit.map((vector) =>
        vector.map((value, k) => (spread[k]! < 1e-12 ? 0 : (value - means[k]!) / spread[k]!)),
      ),
    ),
  };
};

/** The mean squared distance of texts from the mean of the texts about the same. */
const varianceOf = ({ dimension, units }: Measured, about: readonly (readonly string[])[]): number => {
  let [sum, count] = [0, 0];
  for (const { total, squares, number } of strata(dimension, units, about).values()) {
    const ofMean = total.reduce((all, value) => all + value * value, 0) / number;
    sum += squares - ofMean;
    count += number;
  }
  return count === 0 ? 0 : sum / count;
};

type Stratum = {
  readonly total: Float64Array;
  squares: number;
  number: number;
  /** By unit: the sum of its vectors, and how many. */
  readonly sums: Map<number, UnitSum>;
};

type UnitSum = { readonly sum: Float64Array; count: number };

/** The texts by what they are about. */
const strata = (
  dimension: number,
  units: Measured['units'],
  about: readonly (readonly string[])[],
): ReadonlyMap<string, Stratum> => {
  const found = new Map<string, Stratum>();
  for (const [unit, vectors] of units.entries())
    for (const [i, vector] of vectors.entries()) {
      const key = about[unit]?.[i] ?? '';
      const stratum: Stratum = found.get(key) ?? {
        total: new Float64Array(dimension),
        squares: 0,
        number: 0,
        sums: new Map(),
      };
      found.set(key, stratum);
      const ofUnit: UnitSum = stratum.sums.get(unit) ?? { sum: new Float64Array(dimension), count: 0 };
      stratum.sums.set(unit, ofUnit);
      for (let k = 0; k < dimension; k++) {
        const value = vector[k]!;
        ofUnit.sum[k]! += value;
        stratum.total[k]! += value;
        stratum.squares += value * value;
      }
      ofUnit.count++;
      stratum.number++;
    }
  return found;
};

/** Products between the sums of two units of a stratum, and the pairs of texts that they stand for. */
type Products = {
  readonly members: readonly number[];
  readonly counts: readonly number[];
  readonly gram: Float64Array;
};

const meanDistance = (
  { dimension, units }: Measured,
  about: readonly (readonly string[])[],
): DivisionStatistic => {
  const products = [...strata(dimension, units, about).values()].map(productsOf);
  return (sides, times) => {
    let [weighted, weights] = [0, 0];
    for (const { members, counts, gram } of products) {
      let [aa, ab, bb, pairsAA, pairsAB, pairsBB, ofA, ofB] = [0, 0, 0, 0, 0, 0, 0, 0];
      const size = members.length;
      for (let i = 0; i < size; i++) {
        const one = members[i]!;
        const drawn = times[one]!;
        if (drawn === 0) continue;
        if (sides[one] === 1) ofB += drawn * counts[i]!;
        else ofA += drawn * counts[i]!;
        for (let k = i + 1; k < size; k++) {
          const other = members[k]!;
          const both = drawn * times[other]!;
          if (both === 0) continue;
          const product = both * gram[i * size + k]!;
          const pairs = both * counts[i]! * counts[k]!;
          if (sides[one] !== sides[other]) {
            ab += product;
            pairsAB += pairs;
          } else if (sides[one] === 1) {
            bb += product;
            pairsBB += pairs;
          } else {
            aa += product;
            pairsAA += pairs;
          }
        }
      }
      // What only one unit of an arm tells of cannot be compared: nobody knows how much it varies.
      if (pairsAA === 0 || pairsBB === 0 || pairsAB === 0) continue;
      const weight = (ofA * ofB) / (ofA + ofB);
      weighted += weight * (aa / pairsAA + bb / pairsBB - (2 * ab) / pairsAB);
      weights += weight;
    }
    return weights === 0 ? null : weighted / weights;
  };
};

const productsOf = ({ sums }: Stratum): Products => {
  const entries = [...sums];
  const gram = new Float64Array(entries.length ** 2);
  for (const [i, [, one]] of entries.entries())
    for (let k = i + 1; k < entries.length; k++) {
      const other = entries[k]![1].sum;
      let product = 0;
      for (let d = 0; d < other.length; d++) product += one.sum[d]! * other[d]!;
      gram[i * entries.length + k] = product;
    }
  return { members: entries.map(([unit]) => unit), counts: entries.map(([, { count }]) => count), gram };
};

const MARKS = [
  /[,;:]/g,
  /[.]/g,
  /[!?]/g,
  /["'“”‘’«»]/g,
  /[-–—()[\]]/g,
  /\n/g,
  /\p{Lu}/gu,
  /\p{N}/gu,
] as const;

/** How a text is written, whatever it says: marks, capitals and digits for each term, how long words and sentences are. */
const styleOf = (text: string): readonly number[] => {
  const terms = termsOf(text);
  const count = Math.max(1, terms.length);
  const letters = terms.reduce((sum, term) => sum + term.length, 0);
  const sentences = text.split(/[.!?]+(?:\s|$)/u).filter((part) => part.trim() !== '').length;
  return [
    letters / count,
    Math.log1p(count / Math.max(1, sentences)),
    ...MARKS.map((mark) => (text.match(mark)?.length ?? 0) / count),
  ];
};
