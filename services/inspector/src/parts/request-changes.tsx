import type { AnswerOf, Endpoints } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { SafeText } from './safe-text.tsx';

type RequestChange = NonNullable<AnswerOf<Endpoints['compare']>['request']>[number];

const SIGNS: Readonly<Record<RequestChange['change'], string>> = {
  added: '+',
  removed: '−',
  changed: '~',
  moved: '↕',
};

const BADGES: Readonly<Record<RequestChange['change'], string>> = {
  added: 'new',
  removed: 'gone',
  changed: 'changed',
  moved: 'changed',
};

/** The tools and parameters that two requests do not share, each with its old and its new value. */
export const RequestChanges = ({
  changes,
}: {
  readonly changes: readonly RequestChange[];
}): ComponentChildren => (
  <ul class="request-changes">
    {changes.map(({ what, name, change, fields }) => (
      <li key={`${what} ${name} ${change}`}>
        <span class={`badge ${BADGES[change]}`} title={change}>
          {SIGNS[change]} {what}
        </span>{' '}
        <b>
          <SafeText text={name} />
        </b>{' '}
        {change === 'moved' ? 'at another place' : change}
        {fields.map(({ path, before, after }) => (
          <div key={path} class="request-change">
            {path !== '' && (
              <code>
                <SafeText text={path} />
              </code>
            )}{' '}
            <Value text={before} className="gone" /> → <Value text={after} className="came" />
          </div>
        ))}
      </li>
    ))}
  </ul>
);

const Value = ({
  text,
  className,
}: {
  readonly text: string | null;
  readonly className: string;
}): ComponentChildren =>
  text === null ? (
    <span class="quiet">nothing</span>
  ) : (
    <span class={className}>
      <SafeText text={text} />
    </span>
  );
