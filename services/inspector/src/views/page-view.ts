import type { SnapshotPage } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import type { Address, Go } from '../address.ts';
import type { Live } from '../live.ts';
import type { Query } from '../queries.ts';
import type { Looking } from '../use-cycles.ts';

/** What each view is given. */
export type ViewProps = {
  readonly address: Address & { readonly history: string };
  readonly head: Query<SnapshotPage>;
  readonly looking: Looking | null;
  readonly live: Live;
  readonly go: Go;
};

export type PageView = (props: ViewProps) => ComponentChildren;
