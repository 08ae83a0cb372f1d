/** The `size` smallest numbers of those that were offered. */
export type Smallest = {
  /** So many are kept. */
  readonly count: () => number;
  /** The largest of those kept, once `size` are: nothing above it is kept any more. Until then Infinity. */
  readonly bound: () => number;
  /** Keeps the number with what it belongs to, if it is small enough; of equal numbers the one that was offered first. */
  readonly offer: (value: number, item: number) => void;
  /** What is kept, the smallest first; then nothing is. */
  readonly take: () => { readonly items: Int32Array; readonly values: Float64Array };
  readonly clear: () => void;
};

/** A heap whose first is the largest of those kept; of equal ones the one with the higher item (J. Williams, "Heapsort", 1964). */
export const openSmallest = (size: number): Smallest => {
  const values = new Float64Array(size);
  const items = new Int32Array(size);
  let count = 0;
  const isAfter = (a: number, b: number): boolean =>
    values[a]! > values[b]! || (values[a] === values[b] && items[a]! > items[b]!);
  const exchange = (a: number, b: number): void => {
    [values[a], values[b]] = [values[b]!, values[a]!];
    [items[a], items[b]] = [items[b]!, items[a]!];
  };
  const rise = (from: number): void => {
    for (let at = from; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!isAfter(at, parent)) return;
      exchange(at, parent);
      at = parent;
    }
  };
  const sink = (length: number): void => {
    for (let at = 0; ;) {
      let next = 2 * at + 1;
      if (next >= length) return;
      if (next + 1 < length && isAfter(next + 1, next)) next++;
      if (!isAfter(next, at)) return;
      exchange(at, next);
      at = next;
    }
  };
  return {
    count: () => count,
    bound: () => (count < size ? Number.POSITIVE_INFINITY : values[0]!),
    offer(value, item) {
      if (count < size) {
        values[count] = value;
        items[count] = item;
        rise(count++);
        return;
      }
      if (value > values[0]! || (value === values[0] && item > items[0]!)) return;
      values[0] = value;
      items[0] = item;
      sink(count);
    },
    take() {
      const length = count;
      for (let last = length - 1; last > 0; last--) {
        exchange(0, last);
        sink(last);
      }
      count = 0;
      return { items: items.slice(0, length), values: values.slice(0, length) };
    },
    clear: () => void (count = 0),
  };
};
