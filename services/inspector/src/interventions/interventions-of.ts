import { fromWireJson, type ApiClient, type StepRequest } from '@stemma/api';
import { isStemmaError, StemmaError } from '@stemma/errors';
import { defined } from '@stemma/values';
import type { Dialog } from '../page/address.ts';
import { plural, textOfMessage } from '../parts/words.ts';
import { commandId } from '../parts/command-id.ts';

/** What somebody filled in, by the names of the fields. */
export type Fields = Readonly<Record<string, string>>;

/** Where it is done: on a branch as it is now, or at a position of it. */
export type Target = {
  readonly history: string;
  /** The position that is looked at; undefined: the draft. */
  readonly at: string | undefined;
  readonly node: string | null;
  /** True if the branch goes on from `at`: then changes need no fork. */
  readonly isTip: boolean;
};

/** What became of it. `undo`: the position before it on its branch, which a rollback returns to. */
export type Done = {
  readonly words: string;
  readonly branch: string | null;
  readonly at: string | null;
  readonly undo: { readonly branch: string; readonly to: string } | null;
};

const usage = (message: string): StemmaError => new StemmaError('E_USAGE', message);

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

/** @throws E_USAGE */
const jsonOf = (text: string): unknown => {
  try {
    return fromWireJson(text);
  } catch {
    throw usage('the content is not JSON yet');
  }
};

const given = (fields: Fields, ...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = fields[name] ?? '';
      return value === '' ? [] : [[name, value]];
    }),
  );

/** Does what a dialog asks for, in the name of an actor. @throws coded errors */
export const intervene = async (
  client: ApiClient,
  dialog: Dialog,
  fields: Fields,
  target: Target,
): Promise<Done> => {
  const { history, at } = target;
  const { actor = '', notes = '' } = fields;
  if (actor === '') throw usage('say who you are: the log names the actor of every intervention');
  const who = { actor, ...(notes === '' ? {} : { notes }) };
  const submit = async (branch: string, ...steps: readonly StepRequest[]) => {
    const id = commandId();
    const answer = await client.command({ history: branch, body: { id, ...who, steps: [...steps] } });
    const { snapshot_before: before } = await client.intervention({ history: branch, id });
    return { ...answer, undo: before === null ? null : { branch: answer.position.branch, to: before } };
  };
  const forkAt = async (): Promise<string> => {
    const name = fields['name'] ?? '';
    const forked = await submit(history, {
      op: 'fork',
      ...defined({ at }),
      ...(name === '' ? {} : { name }),
      ...defined({ description: fields['description'] }),
    });
    return forked.position.branch;
  };
  const change = changeOf(dialog, fields, target);
  if (change !== undefined) {
    const isForked = fields['where'] === 'fork';
    const branch = isForked ? await forkAt() : history;
    const { position, undo } = await submit(branch, ...change);
    return {
      words: `${CHANGED[dialog] ?? 'Done'}${isForked ? ', on a branch of its own' : ''}`,
      branch: position.branch,
      at: 'open',
      undo,
    };
  }
  switch (dialog) {
    case 'inject':
    case 'edit':
    case 'remove':
      throw usage(
        dialog === 'inject' ? 'write the message' : 'choose a node in the tree or the thread first',
      );
    case 'fork':
      return { words: 'Forked', branch: await forkAt(), at: null, undo: null };
    case 'rollback': {
      const to = fields['to'] ?? at;
      if (to === undefined || to === '') throw usage('say the position to return to');
      const { position } = await submit(history, {
        op: 'rollback',
        to,
        ...given(fields, 'description', 'abandoned'),
      });
      return {
        words: `Rolled back to ${to}: what was after it stays, as an abandoned branch`,
        branch: position.branch,
        at: null,
        undo: null,
      };
    }
    case 'save': {
      await submit(history, {
        op: 'save',
        ...given(fields, 'name', 'description'),
        ...defined({ position: at }),
      });
      return { words: 'Saved', branch: null, at: null, undo: null };
    }
    case 'annotate': {
      const { note = '' } = fields;
      if (note === '') throw usage('write the note');
      await submit(history, { op: 'annotate', note, ...defined({ position: at }) });
      return { words: 'Noted', branch: null, at: null, undo: null };
    }
    case 'run':
      return run(client, fields, target, who);
    case 'retry':
      return retry(client, fields, target, who);
    case 'ask': {
      const { question = '' } = fields;
      if (question === '') throw usage('write the question');
      const reply = await askPool(client, fields, target, who);
      if (reply !== undefined) return reply;
      const branch = await forkAt();
      await submit(branch, { op: 'inject', text: question });
      return run(
        client,
        { ...fields, name: '', calls: '1' },
        { ...target, history: branch, at: undefined },
        who,
      );
    }
    case 'break': {
      const { cycle = '', timeout = '' } = fields;
      const added = await client.addBreakpoint({
        history,
        body: {
          ...who,
          ...given(fields, 'when', 'model', 'tool', 'changed'),
          ...(cycle === '' ? {} : { cycle: Number(cycle) }),
          ...(timeout === '' ? {} : { timeout_ms: Number(timeout) * 1_000 }),
          ...(fields['then'] === 'abort' ? { then: 'abort' as const } : {}),
        },
      });
      return { words: `Breakpoint ${added.name} is set`, branch: null, at: null, undo: null };
    }
    case 'release': {
      const { attempt = '', message = '' } = fields;
      const abort = fields['how'] === 'abort';
      if (attempt === '') throw usage('no call is held');
      await client.release({
        history: rootOf(history),
        attempt,
        body: { ...who, abort, ...(message === '' ? {} : { message }) },
      });
      return {
        words: abort ? 'The call is not sent; its client is told so' : 'The call goes out',
        branch: null,
        at: null,
        undo: null,
      };
    }
  }
};

export const rootOf = (history: string): string => history.split(':')[0] ?? history;

const CHANGED: Partial<Readonly<Record<Dialog, string>>> = {
  inject: 'Injected',
  edit: 'Replaced',
  remove: 'Removed',
};

type Who = { readonly actor: string; readonly notes?: string };

const secondsOf = ({ seconds = '' }: Fields): { seconds?: number } =>
  seconds === '' ? {} : { seconds: Number(seconds) };

/** What a pool's mind answers; undefined: it is no pool. */
const askPool = async (
  client: ApiClient,
  fields: Fields,
  { history }: Target,
  who: Who,
): Promise<Done | undefined> => {
  const { question = '', messages = '' } = fields;
  try {
    const reply = await client.askPool({
      history,
      body: {
        ...{ id: commandId(), ...who, ...secondsOf(fields), question },
        ...given(fields, 'mind'),
        ...(messages === '' ? {} : { messages: Number(messages) }),
      },
    });
    return {
      words: `${reply.mind} was shown ${plural(reply.messages, 'message')} and answers: ${reply.answer}`,
      ...{ branch: null, at: null, undo: null },
    };
  } catch (error) {
    if (isStemmaError(error, 'E_NOT_A_POOL')) return undefined;
    throw error;
  }
};

const run = async (
  client: ApiClient,
  fields: Fields,
  { history, at, isTip }: Target,
  who: Who,
): Promise<Done> => {
  const answer = await client.continueBranch({
    history,
    body: {
      ...{ run: commandId(), ...who, ...secondsOf(fields) },
      calls: Number(fields['calls'] ?? '1'),
      ...given(fields, 'mind', 'name'),
      ...(at === undefined || isTip ? {} : { at }),
    },
  });
  const answered = textOfMessage(answer.answer);
  const failed = answer.error === null ? '' : `: ${answer.error.message} (${answer.error.code})`;
  return {
    words: `${plural(answer.calls.length, 'call')} made; ${answer.why}${failed}${answered === '' ? '' : `. It answers: ${answered}`}`,
    branch: answer.branch,
    at: null,
    undo: null,
  };
};

const retry = async (client: ApiClient, fields: Fields, { history, at }: Target, who: Who): Promise<Done> => {
  const { mind = '', set = '' } = fields;
  if (at === undefined) throw usage('look at a call first: the draft was not sent yet');
  const answer = await client.retryCall({
    history,
    body: {
      ...{ run: commandId(), ...who, ...secondsOf(fields), call: at },
      times: Number(fields['times'] ?? '1'),
      ...(mind === '' ? {} : { minds: [mind] }),
      ...(set === '' ? {} : { set: jsonOf(set) as Record<string, unknown> }),
    },
  });
  const { sameTools, answers } = answer;
  return {
    words: `${answers.length} answers; ${sameTools.count} of ${sameTools.of} call the tools that the first one called`,
    branch: answers[0]?.branch ?? null,
    at: null,
    undo: null,
  };
};
