/**
 * The `k`-th smallest number, from 0; the numbers are put into another order, the smaller ones in front of it (C. Hoare, "Algorithm 65:
 * find", Communications of the ACM 4, 1961).
 */
export const selectSmallest = (values: Float64Array, k: number): number => {
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const pivot = values[(low + high) >> 1]!;
    let [left, right] = [low, high];
    while (left <= right) {
      while (values[left]! < pivot) left++;
      while (values[right]! > pivot) right--;
      if (left > right) break;
      const kept = values[left]!;
      values[left++] = values[right]!;
      values[right--] = kept;
    }
    if (k <= right) high = right;
    else if (k >= left) low = left;
    else break;
  }
  return values[k]!;
};
