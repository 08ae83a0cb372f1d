/** Below this a text takes up none of what was shown. */
const NEAR = 0.15;

/**
 * Which of the texts that were shown a text takes up: the one that it is nearest to, once what all of them have in common is taken away. So
 * a manner of speaking that all share, or that the text adds, does not count. Null: none.
 *
 * @param shown vectors of length 1
 */
export const takenUp = (text: Float32Array, shown: readonly Float32Array[]): number | null => {
  const common = new Float64Array(text.length);
  if (shown.length > 1)
    for (const vector of shown)
      for (let k = 0; k < common.length; k++) common[k]! += vector[k]! / shown.length;
  let [best, most]: [number | null, number] = [null, NEAR];
  for (const [i, vector] of shown.entries()) {
    let [product, square] = [0, 0];
    for (let k = 0; k < common.length; k++) {
      const own = vector[k]! - common[k]!;
      product += text[k]! * own;
      square += own * own;
    }
    const near = square < 1e-12 ? 0 : product / Math.sqrt(square);
    if (near > most) [best, most] = [i, near];
  }
  return best;
};
