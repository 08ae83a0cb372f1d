import type { ApiClient, StepRequest } from '@stemma/api';
import { defined } from '@stemma/values';
import type { Dialog } from '../page/address.ts';
import { commandId } from '../parts/command-id.ts';
import { askPool, releaseCall, retryCall, runCalls, setBreakpoint } from './call-interventions.ts';
import {
  given,
  goesTo,
  jsonOf,
  stays,
  usage,
  type Done,
  type Fields,
  type InterventionRequest,
  type Target,
} from './intervention-request.ts';

/** The steps that change what the model is shown; undefined for a dialog that does not, or that is not filled in yet. */
export const changeOf = (
  dialog: Dialog,
  fields: Fields,
  { node }: Target,
): readonly StepRequest[] | undefined => {
  switch (dialog) {
    case 'inject': {
      const { text = '', role = '', parent = '', ttl = '' } = fields;
      if (text === '') return undefined;
      return [
        {
          op: 'inject',
          text,
          ...(role === '' ? {} : { role }),
          ...(parent === '' ? {} : { parent }),
          ...(ttl === '' ? {} : { ttl: Number(ttl) }),
        },
      ];
    }
    case 'edit': {
      const { content, form = 'text' } = fields;
      if (node === null || content === undefined) return undefined;
      return [{ op: 'replace', id: node, set: { content: form === 'json' ? jsonOf(content) : content } }];
    }
    case 'remove':
      return node === null ? undefined : [{ op: 'remove', id: node }];
    case 'fork':
    case 'rollback':
    case 'save':
    case 'annotate':
    case 'run':
    case 'retry':
    case 'break':
    case 'release':
    case 'ask':
      return undefined;
  }
};

/** Does what a dialog asks for, in the name of an actor. @throws coded errors */
export const intervene = async (
  client: ApiClient,
  dialog: Dialog,
  fields: Fields,
  target: Target,
): Promise<Done> => {
  const { actor = '', notes = '' } = fields;
  if (actor === '') throw usage('say who you are: the log names the actor of every intervention');
  const who = { actor, ...(notes === '' ? {} : { notes }) };
  const request: InterventionRequest = { client, fields, target, who };
  const change = changeOf(dialog, fields, target);
  if (change !== undefined) return changeContext(request, dialog, change);
  switch (dialog) {
    case 'inject':
    case 'edit':
    case 'remove':
      throw usage(
        dialog === 'inject' ? 'write the message' : 'choose a node in the tree or the thread first',
      );
    case 'fork':
      return goesTo(await forkAt(request), 'Forked');
    case 'rollback':
      return rollBack(request);
    case 'save':
      return save(request);
    case 'annotate':
      return annotate(request);
    case 'run':
      return runCalls(request);
    case 'retry':
      return retryCall(request);
    case 'ask':
      return ask(request);
    case 'break':
      return setBreakpoint(request);
    case 'release':
      return releaseCall(request);
  }
};

/** Submits steps as one command, and says which position a rollback returns to. */
const submit = async (
  { client, who }: InterventionRequest,
  branch: string,
  ...steps: readonly StepRequest[]
) => {
  const id = commandId();
  const answer = await client.command({ history: branch, body: { id, ...who, steps: [...steps] } });
  const { snapshot_before: before } = await client.intervention({ history: branch, id });
  return { ...answer, undo: before === null ? null : { branch: answer.position.branch, to: before } };
};

/** Forks at the position that is looked at. Returns the new branch. */
const forkAt = async (request: InterventionRequest): Promise<string> => {
  const { fields, target } = request;
  const forked = await submit(request, target.history, {
    op: 'fork',
    ...defined({ at: target.at }),
    ...given(fields, 'name'),
    ...defined({ description: fields['description'] }),
  });
  return forked.position.branch;
};

/** Changes what the model is shown: on the branch as it is now, or on a fork. */
const changeContext = async (
  request: InterventionRequest,
  dialog: Dialog,
  change: readonly StepRequest[],
): Promise<Done> => {
  const isForked = request.fields['where'] === 'fork';
  const branch = isForked ? await forkAt(request) : request.target.history;
  const { position, undo } = await submit(request, branch, ...change);
  return {
    words: `${CHANGED[dialog] ?? 'Done'}${isForked ? ', on a branch of its own' : ''}`,
    branch: position.branch,
    at: 'open',
    undo,
  };
};

const rollBack = async (request: InterventionRequest): Promise<Done> => {
  const { fields, target } = request;
  const to = fields['to'] ?? target.at;
  if (to === undefined || to === '') throw usage('say the position to return to');
  const { position } = await submit(request, target.history, {
    op: 'rollback',
    to,
    ...given(fields, 'description', 'abandoned'),
  });
  return goesTo(position.branch, `Rolled back to ${to}: what was after it stays, as an abandoned branch`);
};

const save = async (request: InterventionRequest): Promise<Done> => {
  const { fields, target } = request;
  await submit(request, target.history, {
    op: 'save',
    ...given(fields, 'name', 'description'),
    ...defined({ position: target.at }),
  });
  return stays('Saved');
};

const annotate = async (request: InterventionRequest): Promise<Done> => {
  const { fields, target } = request;
  const { note = '' } = fields;
  if (note === '') throw usage('write the note');
  await submit(request, target.history, { op: 'annotate', note, ...defined({ position: target.at }) });
  return stays('Noted');
};

/** Asks a pool's mind; where there is no pool, the model, on a fork that holds the question. */
const ask = async (request: InterventionRequest): Promise<Done> => {
  const { fields, target } = request;
  const { question = '' } = fields;
  if (question === '') throw usage('write the question');
  const reply = await askPool(request);
  if (reply !== undefined) return reply;
  const branch = await forkAt(request);
  await submit(request, branch, { op: 'inject', text: question });
  return runCalls({
    ...request,
    fields: { ...fields, name: '', calls: '1' },
    target: { ...target, history: branch, at: undefined },
  });
};

/** The words for a change that is made. */
const CHANGED: Partial<Readonly<Record<Dialog, string>>> = {
  inject: 'Injected',
  edit: 'Replaced',
  remove: 'Removed',
};
