import type { StemmaError } from '@stemma/errors';
import type { ComponentChildren } from 'preact';
import type { Query } from './queries.ts';
import { SafeText } from '../parts/safe-text.tsx';

/** Shows a pending or failed request, else its answer. */
export const Shown = <T,>({
  query,
  what,
  children,
}: {
  readonly query: Query<T>;
  readonly what: string;
  readonly children: (value: T) => ComponentChildren;
}): ComponentChildren => {
  if (query.state === 'pending') return <p class="note pending">Loading {what}…</p>;
  if (query.state === 'failed') return <Failure error={query.error} />;
  return children(query.value);
};

export const Failure = ({ error }: { readonly error: StemmaError }): ComponentChildren => (
  <div class="note failure" role="alert">
    <p>
      <SafeText text={error.message} />
    </p>
    <p class="quiet">{error.row.help}</p>
    <p class="code">{error.code}</p>
  </div>
);

export const Empty = ({ children }: { readonly children: ComponentChildren }): ComponentChildren => (
  <div class="note">{children}</div>
);
