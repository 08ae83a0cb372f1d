import { knownCall } from './call-and-value.ts';
import type { WhatIfKind } from './what-if.ts';

/** `--from @c4`: what the model says now. */
export const fromCall: WhatIfKind = {
  name: 'from',
  option: ['--from <call>', 'the call from which on its conversation goes to its provider, in a fork: @c4'],
  read: (given, { run }) => {
    const from = knownCall(given, run);
    return Promise.resolve({ from, description: `rerun: live from ${from}`, edit: null, answer: null });
  },
};
