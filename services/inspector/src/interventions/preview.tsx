import { excerptOf, toWireJson, type AnswerOf, type Endpoints } from '@stemma/api';
import { defined } from '@stemma/values';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Dialog } from '../page/address.ts';
import { RoleBadge } from '../parts/badges.tsx';
import { Content } from '../parts/content.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { useQuery } from '../asking/queries.ts';
import { plural } from '../parts/words.ts';
import type { Fields, Target } from './intervention-request.ts';
import { changeOf } from './interventions-of.ts';
import { DiffedText, wordRuns } from '../parts/word-diff.tsx';

const SETTLE = 300;

/** What the model will be shown, tried by the server without recording anything. */
export const Preview = ({
  dialog,
  target,
  fields,
}: {
  readonly dialog: Dialog;
  readonly target: Target;
  readonly fields: Fields;
}): ComponentChildren => {
  const steps = stepsOf(dialog, fields, target);
  const wanted = steps === undefined ? '' : toWireJson(steps);
  const [settled, setSettled] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSettled(wanted), SETTLE);
    return () => clearTimeout(timer);
  }, [wanted]);
  const at = fields['where'] === 'fork' ? target.at : undefined;
  const { history } = target;
  const query = useQuery(
    settled === '' ? 'none' : `now/h/${history}/preview/${at ?? ''}/${settled}`,
    (client) =>
      settled === '' || steps === undefined
        ? new Promise<never>(() => undefined)
        : client.preview({
            history,
            body: {
              actor: fields['actor'] || 'preview',
              steps: [...steps],
              ...defined({ at }),
            },
          }),
    'preview',
  );
  if (wanted === '') return null;
  return (
    <section class="preview" aria-label="Preview" aria-busy={query.state === 'pending' || settled !== wanted}>
      <h3>What the model will be shown</h3>
      <Shown query={query} what="preview">
        {(preview) => <Previewed preview={preview} />}
      </Shown>
    </section>
  );
};

/** Undefined also for what is not valid yet. */
const stepsOf = (dialog: Dialog, fields: Fields, target: Target): ReturnType<typeof changeOf> => {
  try {
    return changeOf(dialog, fields, target);
  } catch {
    return undefined;
  }
};

type ShownMessage = { readonly id?: unknown; readonly role?: unknown; readonly content?: unknown };

const Previewed = ({
  preview: { same_first: first, same_last: last, before, after, bytes_before: old, bytes_after: fresh },
}: {
  readonly preview: AnswerOf<Endpoints['preview']>;
}): ComponentChildren => {
  const textOf = (message: unknown): string => excerptOf((message as ShownMessage).content)?.text ?? '';
  const isOne = before.length === 1 && after.length === 1;
  const runs = isOne ? wordRuns(textOf(before[0]), textOf(after[0])) : null;
  return (
    <ol class="previewed">
      {first > 0 && <li class="quiet">{plural(first, 'message')} as before</li>}
      {before.map((message, i) => (
        <li key={`before ${i}`} class="is-gone">
          <PreviewedMessage message={message as ShownMessage} />
          {runs === null ? (
            <ContentOf message={message as ShownMessage} />
          ) : (
            <DiffedText runs={runs} side="a" />
          )}
        </li>
      ))}
      {after.map((message, i) => (
        <li key={`after ${i}`} class="is-new">
          <PreviewedMessage message={message as ShownMessage} />
          {runs === null ? (
            <ContentOf message={message as ShownMessage} />
          ) : (
            <DiffedText runs={runs} side="b" />
          )}
        </li>
      ))}
      {before.length + after.length === 0 && <li class="quiet">Nothing that the model is shown changes.</li>}
      {last > 0 && <li class="quiet">{plural(last, 'message')} as before</li>}
      <li class="quiet">
        {plural(fresh, 'byte')}, {fresh >= old ? '+' : '−'}
        {Math.abs(fresh - old)}
      </li>
    </ol>
  );
};

const PreviewedMessage = ({
  message: { role, id },
}: {
  readonly message: ShownMessage;
}): ComponentChildren => (
  <>
    <RoleBadge role={typeof role === 'string' ? role : null} />{' '}
    <code class="quiet">
      <SafeText text={typeof id === 'string' ? id : ''} />
    </code>
  </>
);

const ContentOf = ({ message }: { readonly message: ShownMessage }): ComponentChildren => {
  const content = excerptOf(message.content, 4_000);
  return content === null ? null : <Content content={content} />;
};
