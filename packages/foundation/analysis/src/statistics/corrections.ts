/**
 * P values adjusted by Holm ("A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979): the
 * chance that even one of those below 5 % is a false alarm is at most 5 %.
 */
export const holm = (values: readonly number[]): readonly number[] => {
  const adjusted = values.map(() => 0);
  let most = 0;
  for (const [rank, i] of ascending(values).entries()) {
    most = Math.max(most, Math.min(1, values[i]! * (values.length - rank)));
    adjusted[i] = most;
  }
  return adjusted;
};

/**
 * P values adjusted by Benjamini and Hochberg ("Controlling the false discovery rate", Journal of the Royal Statistical Society B 57,
 * 1995): of those below 5 %, 5 % are expected to be false alarms.
 */
export const benjaminiHochberg = (values: readonly number[]): readonly number[] => {
  const adjusted = values.map(() => 0);
  let least = 1;
  for (const [behind, i] of ascending(values).reverse().entries()) {
    least = Math.min(least, (values[i]! * values.length) / (values.length - behind));
    adjusted[i] = least;
  }
  return adjusted;
};

const ascending = (values: readonly number[]): number[] =>
  [...values.keys()].sort((a, b) => values[a]! - values[b]! || a - b);
