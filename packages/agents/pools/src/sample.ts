import { sha256 } from '@stemma/canonical';

/**
 * K different numbers from `from` up to `to`, drawn without replacement: the same for the same seed and round on every machine
 * (pool: Runner). It takes as long as the sample is large, however large the pool is.
 *
 * Source: Floyd's algorithm (Bentley and Floyd, "A sample of brilliance", CACM 30/9, 1987), whose result is then shuffled
 * (Fisher and Yates), as the order in which messages are shown is drawn, too.
 */
export const drawSample = (
  { seed, round }: { readonly seed: number; readonly round: number },
  { from, to, size }: { readonly from: number; readonly to: number; readonly size: number },
): readonly number[] => {
  const below = openNumbers(`sample ${seed} ${round}`);
  const count = to - from;
  const chosen = new Set<number>();
  for (let last = count - size; last < count; last++) {
    const drawn = below(last + 1);
    chosen.add(chosen.has(drawn) ? last : drawn);
  }
  const order = [...chosen];
  for (let i = order.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [order[i], order[j]] = [order[j] as number, order[i] as number];
  }
  return order.map((number) => from + number);
};

/** Numbers of 32 bits from SHA-256 over a text and a counter; those that would favour small results are left out. */
const openNumbers = (seed: string): ((below: number) => number) => {
  const encoder = new TextEncoder();
  let block = 0;
  let words: readonly number[] = [];
  const next = (): number => {
    if (words.length === 0) {
      const { buffer, byteOffset } = sha256(encoder.encode(`${seed} ${block++}`));
      const view = new DataView(buffer, byteOffset, 32);
      words = Array.from({ length: 8 }, (_, i) => view.getUint32(i * 4));
    }
    const [first = 0, ...rest] = words;
    words = rest;
    return first;
  };
  return (below) => {
    const limit = 0x1_0000_0000 - (0x1_0000_0000 % below);
    for (;;) {
      const drawn = next();
      if (drawn < limit) return drawn % below;
    }
  };
};
