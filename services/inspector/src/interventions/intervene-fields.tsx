import { toWireJson, type AnswerOf, type Endpoints } from '@stemma/api';
import { StemmaError } from '@stemma/errors';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Dialog } from '../page/address.ts';
import { indented } from '../parts/json-text.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { Failure, Shown } from '../asking/states.tsx';
import { useQueries, useQuery, type Query } from '../asking/queries.ts';
import { isoTime } from '../parts/words.ts';
import { Area, Choice, Line } from '../parts/form-fields.tsx';
import { rootOf, type Fields, type Target } from './intervention-request.ts';

type FieldsProps = {
  readonly dialog: Dialog;
  readonly target: Target;
  readonly fields: Fields;
  readonly set: (name: string, value: string) => void;
};

export const DialogFields = (props: FieldsProps): ComponentChildren => {
  const { dialog, target, fields, set } = props;
  const line = { fields, set };
  switch (dialog) {
    case 'inject':
      return (
        <>
          <Area label="Message" name="text" {...line} />
          <div class="who">
            <Choice
              label="Role"
              name="role"
              fields={fields}
              set={set}
              choices={[
                ['', 'user'],
                ['system', 'system'],
                ['assistant', 'assistant'],
                ['tool', 'tool'],
              ]}
            />
            <Choice
              label="Where in the tree"
              name="parent"
              fields={fields}
              set={set}
              choices={[
                ['', 'the end of the thread (^ah)'],
                ['^sys', 'the system header (^sys)'],
              ]}
            />
            <Line label="Kept for so many calls" name="ttl" isNumber {...line} />
          </div>
        </>
      );
    case 'edit':
      return <EditFields {...props} />;
    case 'remove':
      return target.node === null ? <ChooseNode /> : null;
    case 'fork':
      return (
        <div class="who">
          <Line label="Name of the branch" name="name" {...line} />
          <Line label="Description" name="description" {...line} />
        </div>
      );
    case 'rollback':
      return (
        <div class="who">
          <Line label="Return to" name="to" placeholder={target.at ?? '@t-1'} {...line} />
          <Line label="Name of the abandoned branch" name="abandoned" {...line} />
          <Line label="Description" name="description" {...line} />
        </div>
      );
    case 'save':
      return (
        <div class="who">
          <Line label="Name" name="name" {...line} />
          <Line label="Description" name="description" {...line} />
        </div>
      );
    case 'annotate':
      return <Area label="Note" name="note" {...line} />;
    case 'run':
      return (
        <div class="who">
          <ModelLine {...line} />
          <Line label="Calls" name="calls" isNumber placeholder="1" {...line} />
          <Line label="Name of the branch" name="name" {...line} />
          <Line label="Seconds" name="seconds" isNumber placeholder="300" {...line} />
        </div>
      );
    case 'ask':
      return (
        <>
          <Area label="Question" name="question" {...line} />
          <div class="who">
            <ModelLine {...line} />
            <Line label="Newest messages (of a pool)" name="messages" isNumber {...line} />
            <Line label="Seconds" name="seconds" isNumber placeholder="300" {...line} />
          </div>
        </>
      );
    case 'retry':
      return (
        <div class="who">
          <ModelLine {...line} />
          <Line label="Times" name="times" isNumber placeholder="1" {...line} />
          <Line label="Parameters, JSON" name="set" placeholder='{"temperature":0}' {...line} />
          <Line label="Seconds" name="seconds" isNumber placeholder="300" {...line} />
        </div>
      );
    case 'break':
      return <BreakFields {...props} />;
    case 'release':
      return <ReleaseFields {...props} />;
  }
};

const ModelLine = (line: Pick<FieldsProps, 'fields' | 'set'>): ComponentChildren => (
  <Line
    label="Model (default: the one that was asked)"
    name="mind"
    placeholder="openai:MODEL@URL, offline"
    {...line}
  />
);

const ChooseNode = (): ComponentChildren => (
  <p class="note">Choose a node in the tree or the thread first: this dialog opens from its detail.</p>
);

/** The content of the chosen node, to be written anew. A content that is no text stays JSON. */
const EditFields = ({ target, fields, set }: FieldsProps): ComponentChildren => {
  const { history, at, node } = target;
  const isTip = fields['where'] !== 'fork';
  const query = useQuery(
    node === null ? 'none' : `now/h/${history}/edit/${isTip ? 'tip' : (at ?? 'tip')}/${node}`,
    (client) =>
      node === null
        ? new Promise<never>(() => undefined)
        : client.node({ history, node, ...(isTip || at === undefined ? {} : { at }) }),
  );
  const content = query.state === 'done' ? query.value.payload['content'] : undefined;
  useEffect(() => {
    if (query.state !== 'done' || fields['content'] !== undefined) return;
    const isText = typeof content === 'string' || content === undefined;
    set('form', isText ? 'text' : 'json');
    set('content', isText ? (content ?? '') : indented(toWireJson(content)));
  }, [query.state]);
  if (node === null) return <ChooseNode />;
  return (
    <Shown query={query} what="node">
      {() => (
        <Area
          label={fields['form'] === 'json' ? 'Content, JSON' : 'Content'}
          name="content"
          fields={fields}
          set={set}
        />
      )}
    </Shown>
  );
};

/** Breakpoints that are set, whether calls are steered, and the conditions of another one. */
const BreakFields = ({ target, fields, set }: FieldsProps): ComponentChildren => {
  const queries = useQueries();
  const { history } = target;
  const [failure, setFailure] = useState<StemmaError | null>(null);
  const query = useQuery(`now/h/${history}/breakpoints`, (client) => client.breakpoints({ history }));
  const who = { actor: fields['actor'] ?? '', ...(fields['notes'] ? { notes: fields['notes'] } : {}) };
  const change = (work: Parameters<typeof queries.send>[0]): void => {
    if (who.actor === '') {
      setFailure(new StemmaError('E_USAGE', 'say who you are first'));
      return;
    }
    setFailure(null);
    queries.send(work).then(
      () => queries.expire((key) => key.startsWith(`now/h/${history}/`)),
      (error: unknown) => error instanceof StemmaError && setFailure(error),
    );
  };
  const line = { fields, set };
  return (
    <>
      <Shown query={query} what="breakpoints">
        {({ steer, breakpoints }) => (
          <>
            <p>
              Calls of this branch are{' '}
              {steer
                ? 'steered: they go out with the changes of observers'
                : 'not steered: they go out as the agent sends them'}
              .{' '}
              <button
                class="plain"
                type="button"
                onClick={() => change((client) => client.steer({ history, body: { ...who, on: !steer } }))}
              >
                {steer ? 'Stop steering' : 'Steer'}
              </button>
            </p>
            {breakpoints.length > 0 && (
              <ul class="breakpoints" aria-label="Breakpoints">
                {breakpoints.map(({ name, timeout_ms: timeout, then, ...conditions }) => (
                  <li key={name}>
                    <b>
                      <SafeText text={name} />
                    </b>{' '}
                    <SafeText
                      text={
                        Object.entries(conditions)
                          .map(([key, value]) => `${key} ${String(value)}`)
                          .join(', ') || 'every call'
                      }
                    />{' '}
                    <span class="quiet">
                      {timeout / 1000} s, then {then === 'abort' ? 'it ends' : 'it goes on'}
                    </span>{' '}
                    <button
                      class="plain"
                      type="button"
                      onClick={() =>
                        change((client) => client.removeBreakpoint({ history, name, body: who }))
                      }
                    >
                      Remove
                    </button>
                  </li>
                ))}
              </ul>
            )}
          </>
        )}
      </Shown>
      {failure !== null && <Failure error={failure} />}
      <div class="who">
        <Line label="Where this selector matches" name="when" placeholder="[role='tool']" {...line} />
        <Line label="Where this has changed" name="changed" placeholder="#plan" {...line} />
        <Line label="Tool that was called" name="tool" {...line} />
        <Line label="Model" name="model" placeholder="gpt-*" {...line} />
        <Line label="Cycle" name="cycle" isNumber {...line} />
        <Line label="Seconds" name="timeout" isNumber placeholder="600" {...line} />
        <Choice
          label="Then"
          name="then"
          otherwise="go-on"
          fields={fields}
          set={set}
          choices={[
            ['go-on', 'it goes on'],
            ['abort', 'it ends'],
          ]}
        />
      </div>
    </>
  );
};

type HeldCalls = AnswerOf<Endpoints['held']>;

const useHeld = (history: string): Query<HeldCalls> =>
  useQuery(`now/h/${rootOf(history)}/held`, (client) => client.held({ history: rootOf(history) }));

const ReleaseFields = ({ target, fields, set }: FieldsProps): ComponentChildren => {
  const query = useHeld(target.history);
  const first = query.state === 'done' ? query.value.calls[0]?.attempt_id : undefined;
  useEffect(() => {
    if (fields['attempt'] === undefined && first !== undefined) set('attempt', first);
  }, [first]);
  return (
    <Shown query={query} what="held calls">
      {({ calls }) =>
        calls.length === 0 ? (
          <div class="note">
            <p>No call of this history is held. A breakpoint holds one before it goes out:</p>
            <pre>
              ./stemma break <SafeText text={target.history} /> --tool refund
            </pre>
          </div>
        ) : (
          <>
            <Choice
              label="Call"
              name="attempt"
              fields={fields}
              set={set}
              choices={calls.map((call) => [
                call.attempt_id,
                `cycle ${call.cycle}, ${call.model ?? 'no model named'}, until ${isoTime(call.until)}`,
              ])}
            />
            <Choice
              label="How"
              name="how"
              otherwise="resume"
              fields={fields}
              set={set}
              choices={[
                ['resume', 'resume: it goes out as the branch shows it now'],
                ['abort', 'stop: it is not sent'],
              ]}
            />
            {fields['how'] === 'abort' && (
              <Line label="What its client is told" name="message" fields={fields} set={set} />
            )}
          </>
        )
      }
    </Shown>
  );
};
