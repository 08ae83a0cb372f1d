import { callAndValue } from './call-and-value.ts';
import type { WhatIfKind } from './what-if.ts';

/** `--edit @c4=FILE`: what the model says to another question, or to another result of a tool. */
export const editMessage: WhatIfKind = {
  name: 'edit',
  option: [
    '--edit <call=file>',
    "@c4=FILE: the last message of a user or a tool that the call shows has the file's text, and goes to its provider",
  ],
  read: async (given, { run, readFile }) => {
    const [from, file] = callAndValue(given, run, '--edit @c4=FILE');
    const content = await readFile(file);
    const description = `rerun: the last message of ${from} is another`;
    return { from, description, edit: { what: 'replace', content }, answer: null };
  },
};
