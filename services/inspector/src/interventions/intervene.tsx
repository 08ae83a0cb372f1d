import { StemmaError } from '@stemma/errors';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { DIALOGS, type Dialog, type Go } from '../page/address.ts';
import { DIALOG_WORDS } from '../parts/dialog-words.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { Failure } from '../asking/states.tsx';
import '../style/intervene.css';
import { useQueries } from '../asking/queries.ts';
import { keepActor, keptActor } from '../parts/command-id.ts';
import { Choice, Line } from '../parts/form-fields.tsx';
import { DialogFields } from './intervene-fields.tsx';
import type { Done, Fields, Target } from './intervention-request.ts';
import { intervene } from './interventions-of.ts';
import type { ViewProps } from '../parts/page-view.ts';
import { Preview } from './preview.tsx';

/** What is done from where one looks: by whom, why, and what the model will be shown. */
export const InterveneDialog = ({
  dialog,
  address,
  head,
  looking,
  go,
}: ViewProps & { readonly dialog: Dialog }): ComponentChildren => {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  const tip = head.state === 'done' ? head.value.working : undefined;
  const newest = head.state === 'done' ? head.value.snapshots[0] : undefined;
  const at = looking?.reference;
  const isTip = at === undefined || (newest !== undefined && at === newest.label && newest.seq === tip?.seq);
  const target: Target = {
    history: address.history,
    at,
    node: address.node,
    isTip: isTip || looking?.following === true,
  };
  return (
    <dialog
      ref={element}
      class="intervene-dialog"
      aria-label="Intervene"
      onClose={() => go({ dialog: null })}
    >
      <div class="tabs intervene-kinds" role="group" aria-label="What to do">
        {DIALOGS.map((one) => (
          <button
            key={one}
            class="tab"
            aria-pressed={one === dialog}
            title={DIALOG_WORDS[one][2]}
            onClick={() => go({ dialog: one }, 'replace')}
          >
            {DIALOG_WORDS[one][0]}
          </button>
        ))}
      </div>
      <InterveneForm
        key={dialog}
        dialog={dialog}
        target={target}
        go={go}
        close={() => element.current?.close()}
      />
    </dialog>
  );
};

type FormProps = {
  readonly dialog: Dialog;
  readonly target: Target;
  readonly go: Go;
  readonly close: () => void;
};

const InterveneForm = ({ dialog, target, go, close }: FormProps): ComponentChildren => {
  const queries = useQueries();
  const [fields, setFields] = useState<Fields>({
    actor: keptActor(),
    where: target.isTip ? 'tip' : 'fork',
  });
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<StemmaError | null>(null);
  const [done, setDone] = useState<Done | null>(null);
  const set = (name: string, value: string): void => {
    setFields((now) => ({ ...now, [name]: value }));
    setFailure(null);
  };
  const [, button, what] = DIALOG_WORDS[dialog];
  const perform = async (work: () => Promise<Done>): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      setDone(await work());
      keepActor(fields['actor'] ?? '');
      queries.expire((key) => key.startsWith('now/'));
    } catch (error) {
      if (!(error instanceof StemmaError)) throw error;
      setFailure(error);
    } finally {
      setBusy(false);
    }
  };
  if (done !== null)
    return (
      <DonePart
        done={done}
        busy={busy}
        failure={failure}
        go={go}
        close={close}
        undo={({ branch, to }) =>
          void perform(() =>
            queries.send((client) =>
              intervene(
                client,
                'rollback',
                { ...fields, to, notes: 'undone' },
                { ...target, history: branch },
              ),
            ),
          )
        }
      />
    );
  return (
    <form
      class="intervene-form"
      onSubmit={(event) => {
        event.preventDefault();
        void perform(() => queries.send((client) => intervene(client, dialog, fields, target)));
      }}
    >
      <p class="quiet">
        {what[0]?.toUpperCase()}
        {what.slice(1)}:{' '}
        <code>
          <SafeText text={`${target.history} ${target.at ?? 'draft'}`} />
        </code>
      </p>
      <DialogFields dialog={dialog} target={target} fields={fields} set={set} />
      {['inject', 'edit', 'remove'].includes(dialog) && (
        <>
          <Choice
            label="Where"
            name="where"
            otherwise="tip"
            fields={fields}
            set={set}
            choices={[
              ['tip', 'on this branch, in what is shown next'],
              ['fork', `on a new branch, from ${target.at ?? 'the draft'}`],
            ]}
          />
          {fields['where'] === 'fork' && (
            <Line label="Name of the branch" name="name" fields={fields} set={set} />
          )}
        </>
      )}
      <div class="who">
        <Line label="Actor" name="actor" fields={fields} set={set} required />
        <Line label="Reason" name="notes" fields={fields} set={set} />
      </div>
      <Preview dialog={dialog} target={target} fields={fields} />
      {failure !== null && <Failure error={failure} />}
      <p class="intervene-buttons">
        <button class="plain" type="button" onClick={close}>
          Close
        </button>
        <button class="primary" disabled={busy}>
          {busy ? 'Working…' : button}
        </button>
      </p>
    </form>
  );
};

const DonePart = ({
  done: { words, branch, at, undo: before },
  busy,
  failure,
  undo,
  go,
  close,
}: {
  readonly done: Done;
  readonly busy: boolean;
  readonly failure: StemmaError | null;
  readonly undo: (before: { readonly branch: string; readonly to: string }) => void;
  readonly go: Go;
  readonly close: () => void;
}): ComponentChildren => {
  // The button that had the focus is gone; without a focus in the dialog Esc would not reach it.
  const buttons = useRef<HTMLParagraphElement>(null);
  useEffect(() => buttons.current?.querySelector<HTMLElement>('button:last-child')?.focus(), []);
  return (
    <div class="intervene-form" role="status">
      <p>
        <SafeText text={words} />.
      </p>
      {failure !== null && <Failure error={failure} />}
      <p ref={buttons} class="intervene-buttons">
        {before !== null && (
          <button class="plain" disabled={busy} onClick={() => undo(before)}>
            Undo: roll back to {before.to}
          </button>
        )}
        <button class="plain" onClick={close}>
          Close
        </button>
        {branch !== null && (
          <button class="primary" onClick={() => go({ show: null, history: branch, at, dialog: null })}>
            Show it
          </button>
        )}
      </p>
    </div>
  );
};
