import type { CallPrice } from '@stemma/model-apis';
import { amountOf, unitsOf } from '@stemma/values';
import type { PoolRunEnd } from './run-types.ts';

/** What rounds may take together; null: no limit. */
export type Limits = {
  readonly tokens: number | null;
  /** A decimal number. */
  readonly cost: string | null;
  readonly seconds: number | null;
};

/** What a call of a round took. */
export type Spent = {
  readonly model: string | null;
  readonly tokens: number;
  readonly cost: CallPrice | null;
};

/** Sums up what rounds took, and says when a limit is reached. */
export type Budget = {
  spend(spent: Spent): void;
  readonly tokens: () => number;
  /** Why no further round may begin; null: one may. */
  over(seconds: number): { readonly ended: PoolRunEnd; readonly why: string } | null;
};

/** @throws E_USAGE for a cost that is no decimal number */
export const openBudget = ({ tokens: mostTokens, cost: mostCost, seconds: mostSeconds }: Limits): Budget => {
  const most = mostCost === null ? null : unitsOf(mostCost);
  let tokens = 0;
  let units = 0n;
  let unpriced: string | null = null;
  let currency = '';
  return {
    spend: (spent) => {
      tokens += spent.tokens;
      if (spent.cost !== null) {
        units += unitsOf(spent.cost.amount);
        currency = ` ${spent.cost.currency}`;
        // What runs in this process costs nothing.
      } else if (spent.model !== 'offline') unpriced ??= spent.model ?? 'a model without a name';
    },
    tokens: () => tokens,
    over: (seconds) => {
      if (mostTokens !== null && tokens >= mostTokens)
        return { ended: 'tokens', why: `the rounds took ${tokens} of ${mostTokens} tokens` };
      if (most !== null && unpriced !== null)
        return { ended: 'cost', why: `the price table does not say what ${unpriced} costs` };
      if (most !== null && units >= most)
        return { ended: 'cost', why: `the rounds cost ${amountOf(units)}${currency} of ${amountOf(most)}` };
      if (mostSeconds !== null && seconds >= mostSeconds)
        return { ended: 'time', why: `the rounds took their ${mostSeconds} seconds` };
      return null;
    },
  };
};
