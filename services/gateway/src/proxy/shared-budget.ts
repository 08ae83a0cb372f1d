/**
 * Gives shares of a budget in the order in which they are asked for. Who asks for more than all of it gets all.
 *
 * @returns what gives the share back
 */
export type SharedBudget = (weight: number) => Promise<() => void>;

export const openSharedBudget = (most: number): SharedBudget => {
  const waiting: { readonly weight: number; readonly begin: () => void }[] = [];
  let used = 0;
  const beginNext = (): void => {
    for (let next = waiting[0]; next !== undefined && used + next.weight <= most; next = waiting[0]) {
      waiting.shift();
      used += next.weight;
      next.begin();
    }
  };
  return async (given) => {
    const weight = Math.min(given, most);
    await new Promise<void>((begin) => {
      waiting.push({ weight, begin });
      beginNext();
    });
    return () => {
      used -= weight;
      beginNext();
    };
  };
};
