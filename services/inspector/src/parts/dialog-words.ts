import type { Dialog } from '../page/address.ts';

/** What somebody can do to a branch: its name, the button that does it, and what it does. */
export const DIALOG_WORDS: Readonly<Record<Dialog, readonly [name: string, button: string, what: string]>> = {
  inject: ['Inject', 'Inject', 'adds a message to what the model is shown next'],
  edit: ['Edit', 'Replace', 'replaces the content of the chosen node'],
  remove: ['Remove', 'Remove', 'takes the chosen node out of what the model is shown'],
  fork: ['Fork', 'Fork', 'starts a branch at this position; the original stays'],
  rollback: [
    'Roll back',
    'Roll back',
    'goes on from an earlier position; what was after it stays, as an abandoned branch',
  ],
  save: ['Save', 'Save', 'gives this position a name'],
  annotate: ['Annotate', 'Annotate', 'writes a note to this position'],
  run: ['Run', 'Run', 'goes on from here with a model'],
  retry: ['Ask again', 'Ask', 'asks this call again, beside the first answer'],
  break: ['Break', 'Set the breakpoint', 'holds a call of this branch before it goes out'],
  ask: [
    'Ask',
    'Ask',
    'asks a model about what is here, and adds nothing to this branch: of a pool the question and the answer are recorded; a recorded agent is asked on a branch of its own',
  ],
  release: ['Resume or stop', 'Release', 'lets a held call go out as the branch shows it now, or ends it'],
};
