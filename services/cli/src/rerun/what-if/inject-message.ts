import { callAndValue } from './call-and-value.ts';
import type { WhatIfKind } from './what-if.ts';

/** `--inject @c4=TEXT`: what the model says if one more message is the last that it is shown. */
export const injectMessage: WhatIfKind = {
  name: 'inject',
  option: [
    '--inject <call=text>',
    '@c4=TEXT: the call shows one more message, of the user or (@c4=developer:TEXT) the developer, and goes to its provider',
  ],
  read: (given, { run }) => {
    const [from, value] = callAndValue(given, run, '--inject @c4=TEXT');
    const [, role = 'user', text = value] = /^(user|developer|system):(.+)$/s.exec(value) ?? [];
    const description = `rerun: ${from} shows one more message`;
    return Promise.resolve({ from, description, edit: { what: 'inject', role, text }, answer: null });
  },
};
