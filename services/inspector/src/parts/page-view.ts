import type { SnapshotPage } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { Address, Go } from '../page/address.ts';
import type { Live } from '../page/live.ts';
import type { Query } from '../asking/queries.ts';
import type { Looking } from '../cycles/use-cycles.ts';

/** What each view is given. */
export type ViewProps = {
  readonly address: Address & { readonly history: string };
  readonly head: Query<SnapshotPage>;
  readonly looking: Looking | null;
  readonly live: Live;
  readonly go: Go;
};

export type PageView = (props: ViewProps) => ComponentChildren;
