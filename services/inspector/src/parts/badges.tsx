import type { ComponentChildren } from 'preact';
import { SafeText } from './safe-text.tsx';

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'];

/** The class that gives a role its colour. */
export const roleClass = (role: string | null | undefined): string =>
  `role-${role === 'developer' ? 'system' : role === 'function' ? 'tool' : ROLES.includes(role ?? '') ? (role ?? '') : 'other'}`;

export const RoleBadge = ({ role }: { readonly role: string | null | undefined }): ComponentChildren => (
  <span class={`badge role ${roleClass(role)}`}>
    <SafeText text={role === null ? 'null' : role === undefined || role === '' ? 'no role' : role} />
  </span>
);

export const KindBadge = ({ kind }: { readonly kind: string | null | undefined }): ComponentChildren =>
  kind === undefined || kind === null || kind === '' || kind === 'text' ? null : (
    <span class="badge kind">
      <SafeText text={kind} />
    </span>
  );

/** The mark of a result whose tool failed. */
export const FailedBadge = ({
  node,
}: {
  readonly node: { readonly failed?: true | undefined };
}): ComponentChildren =>
  node.failed === true ? (
    <span class="badge bad" title="the tool says that it failed, or was not finished">
      failed
    </span>
  ) : null;

/** How many more snapshots a node lives; nothing if it stays. An arrow: one more in the snapshot before. */
export const TtlBadge = ({
  ttl,
  aged,
}: {
  readonly ttl: number | null;
  readonly aged: boolean;
}): ComponentChildren =>
  ttl === null ? null : (
    <span
      class="badge ttl"
      title={`${aged ? 'aged since the previous snapshot; ' : ''}${ttl === 0 ? 'not in the next snapshot' : `in ${ttl} more snapshots`}`}
    >
      ttl {ttl}
      {aged && ' ↓'}
    </span>
  );

export const NewBadge = (): ComponentChildren => <span class="badge new">new</span>;
