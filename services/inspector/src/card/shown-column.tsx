import type { TreePage } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { Shown } from '../asking/states.tsx';
import { useQuery, type Query } from '../asking/queries.ts';
import type { Looking } from '../cycles/use-cycles.ts';
import type { Go } from '../page/address.ts';
import { roleClass } from '../parts/badges.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import { plural } from '../parts/words.ts';
import { TAIL, useTree } from '../tree/use-tree.ts';
import { OpenedRow } from './opened-row.tsx';
import { causesOf, groupsOf, groupsSince, type ShownGroups, type ShownRow } from './shown-rows.ts';

type Props = {
  readonly history: string;
  readonly looking: Looking;
  readonly since: string | null;
  /** The message that is open. */
  readonly open: string | null;
  readonly go: Go;
};

/** What the call was shown: what left first, then what changed, what is new, and what was there before. */
export const ShownColumn = ({ history, looking, since, open, go }: Props): ComponentChildren => {
  const { reference } = looking;
  const query = useTree(history, reference, TAIL);
  const isOlder = since !== null && (looking.cycle === null || Number(since.slice(2)) < looking.cycle);
  const older = useTree(history, isOlder ? since : reference, TAIL);
  const causes = useCauses(history, isOlder ? since : null, reference);
  return (
    <section class="card-column shown-column" aria-label="Shown">
      <header>
        <h3>Shown</h3>
        {query.state === 'done' && (
          <span class="quiet">
            since <SafeText text={isOlder ? since : (query.value.previous?.label ?? 'the beginning')} />
            {isOlder && (
              <button class="link" onClick={() => go({ since: null })}>
                {' '}
                the call before
              </button>
            )}
          </span>
        )}
        <span class="card-links">
          <button class="link" onClick={() => go({ show: null })}>
            All messages
          </button>
          {isOlder && (
            <button class="link" onClick={() => go({ show: 'compare', a: since, b: reference ?? null })}>
              Compare
            </button>
          )}
        </span>
      </header>
      <div
        class="scroll card-body"
        tabIndex={0}
        role="region"
        aria-label="Shown, content"
        aria-busy={query.state === 'done' && query.stale}
      >
        <Shown query={query} what="messages">
          {(page) => (
            <Groups
              groups={isOlder ? sinceOrNull(older, page, causes) : groupsOf(page)}
              before={isOlder ? since : (page.previous?.label ?? null)}
              {...{ history, reference, open, go }}
            />
          )}
        </Shown>
      </div>
    </section>
  );
};

const sinceOrNull = (
  older: Query<TreePage>,
  page: TreePage,
  causes: ReadonlyMap<string, string>,
): ShownGroups | null => (older.state === 'done' ? groupsSince(older.value, page, causes) : null);

const NO_CAUSES: ReadonlyMap<string, string> = new Map();

/** What removed the messages that left since an older call; nothing until the server says so. */
const useCauses = (
  history: string,
  since: string | null,
  reference: string | undefined,
): ReadonlyMap<string, string> => {
  const query = useQuery(
    since === null || reference === undefined ? 'none' : `old/h/${history}/${reference}/left/${since}`,
    (client) =>
      since === null || reference === undefined
        ? new Promise<never>(() => undefined)
        : client.diff({ history, a: since, b: reference, explain: '1' }),
  );
  return query.state === 'done' && 'entries' in query.value ? causesOf(query.value.entries) : NO_CAUSES;
};

type GroupsProps = {
  readonly groups: ShownGroups | null;
  /** The older call; null: this is the first. */
  readonly before: string | null;
  readonly history: string;
  readonly reference: string | undefined;
  readonly open: string | null;
  readonly go: Go;
};

const SIGNS = { left: '−', changed: '~', fresh: '+', asBefore: '' } as const;

const Groups = ({ groups, before, ...rest }: GroupsProps): ComponentChildren => {
  if (groups === null) return <p class="note pending">Loading the older call…</p>;
  const { left, changed, fresh, asBefore, notLoaded } = groups;
  return (
    <>
      <Group kind="left" words={`${left.length} left`} rows={left} at={before} {...rest} />
      <Group kind="changed" words={`${changed.length} changed`} rows={changed} at={null} {...rest} />
      <Group kind="fresh" words={`${fresh.length} new`} rows={fresh} at={null} {...rest} />
      <Group kind="asBefore" words={`${asBefore.length} as before`} rows={asBefore} at={null} {...rest} />
      {left.length + changed.length + fresh.length + asBefore.length === 0 && (
        <p class="quiet">The thread is empty: the model sees nothing.</p>
      )}
      {notLoaded > 0 && (
        <p class="quiet">
          {plural(notLoaded, 'node')} in the middle of a long context {notLoaded === 1 ? 'is' : 'are'} not
          listed here: All messages has them.
        </p>
      )}
    </>
  );
};

type GroupProps = Omit<GroupsProps, 'groups' | 'before'> & {
  readonly kind: keyof typeof SIGNS;
  readonly words: string;
  readonly rows: readonly ShownRow[];
  /** Where messages that left were last; null: they are there now. */
  readonly at: string | null;
};

const Group = ({ kind, words, rows, at, history, reference, open, go }: GroupProps): ComponentChildren =>
  rows.length > 0 && (
    <section class={`shown-group is-${kind}`} aria-label={words}>
      <h4>{words}</h4>
      {rows.map((row) => (
        <div key={row.id}>
          <button
            class="shown-row"
            aria-expanded={open === row.id}
            onClick={() => go({ node: open === row.id ? null : row.id }, 'replace')}
          >
            <span class="shown-sign" aria-hidden="true">
              {SIGNS[kind]}
            </span>
            <span class={`shown-role ${roleClass(row.role)}`}>
              <SafeText text={row.role ?? 'null'} />
            </span>
            <span class="shown-text">
              <SafeText text={row.text} />
            </span>
            {row.cause !== null && <span class="badge cause">{row.cause}</span>}
            {row.failed && <span class="badge bad">✕ failed</span>}
            {row.kind !== null && !['', 'text', 'call', 'result'].includes(row.kind) && (
              <span class="badge kind">
                <SafeText text={row.kind} />
              </span>
            )}
          </button>
          {open === row.id && (
            <OpenedRow
              row={row}
              history={history}
              reference={reference}
              at={kind === 'left' ? at : null}
              go={go}
            />
          )}
        </div>
      ))}
    </section>
  );
