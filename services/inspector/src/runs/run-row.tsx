import type { OverviewRow } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { SafeText, visible } from '../parts/safe-text.tsx';
import { grouped, isoTime, plural, shortId, shortTime } from '../parts/words.ts';
import type { Address } from '../page/address.ts';
import { rangeOf, type GroupHead } from './rows-of.ts';
import { RunShape } from './run-shape.tsx';

/** Where a click leads; the address of the link is the same. */
export type Open = (to: Partial<Address>) => void;

/** A link within the page that another tab opens, too. */
const Link = ({
  to,
  open,
  label,
  children,
}: {
  readonly to: { readonly history: string; readonly at?: string };
  readonly open: Open;
  readonly label?: string;
  readonly children: ComponentChildren;
}): ComponentChildren => (
  <a
    tabIndex={-1}
    href={`?h=${encodeURIComponent(to.history)}&show=call${to.at === undefined ? '' : `&at=${encodeURIComponent(to.at)}`}`}
    {...(label === undefined ? {} : { 'aria-label': visible(label), title: visible(label) })}
    onClick={(event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      open({ history: to.history, at: to.at ?? null, show: 'call' });
    }}
  >
    {children}
  </a>
);

const MOST_FAILURES = 3;

const costWords = ({ cost, unpriced }: OverviewRow): string =>
  cost === null ? '–' : `${unpriced > 0 ? '≥ ' : ''}${cost.amount} ${cost.currency}`;

/** In a row ← and → go through its links, and the space bar ticks it. */
const withinRow = (event: KeyboardEvent, tick: () => void): void => {
  const { currentTarget, target, key } = event;
  const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
  if (!(currentTarget instanceof Element) || !(target instanceof HTMLAnchorElement)) return;
  if (key === ' ') tick();
  else if (step !== 0) {
    const links = [...currentTarget.querySelectorAll('a')];
    links[Math.max(0, Math.min(links.length - 1, links.indexOf(target) + step))]?.focus();
  } else return;
  event.preventDefault();
};

export const RunRow = ({
  row,
  ticked,
  tick,
  open,
}: {
  readonly row: OverviewRow;
  readonly ticked: boolean;
  readonly tick: () => void;
  readonly open: Open;
}): ComponentChildren => {
  const { history, name, preview, calls, called, failures, failed, tokens, ended, parts, updatedAt } = row;
  const title = name ?? shortId(history);
  return (
    <div
      class={`run-row${ticked ? ' is-ticked' : ''}${row.group === null ? '' : ' in-group'}`}
      role="listitem"
      onKeyDown={(event) => withinRow(event, tick)}
    >
      <input
        type="checkbox"
        tabIndex={-1}
        checked={ticked}
        aria-label={`Compare ${visible(title)}`}
        onChange={tick}
      />
      <span class="run-name" title={visible(preview ?? '')}>
        <Link to={{ history }} open={open}>
          <SafeText text={title} />
        </Link>{' '}
        {Object.entries(row.labels).map(([label, value]) => (
          <span key={label} class="badge">
            <SafeText text={`${label}=${value}`} />
          </span>
        ))}{' '}
        {row.state !== 'open' && <span class="badge bad">{row.state}</span>}{' '}
        {row.held > 0 && <span class="badge held">held</span>}{' '}
        <span class="quiet">
          <SafeText text={preview ?? ''} />
        </span>
      </span>
      <RunShape shape={row.shape} />
      <span class="num col-calls">{grouped(calls)}</span>
      <span class="num col-tools">{grouped(called)}</span>
      <span class="num run-failed">
        {failed === 0 && row.errors === 0 ? (
          <span class="quiet">0</span>
        ) : failures.length === 0 ? (
          <span class="bad-text">✕ {grouped(failed + row.errors)}</span>
        ) : (
          <>
            <span class="bad-text">✕ {grouped(failures.length)}</span>{' '}
            {failures.slice(0, MOST_FAILURES).map(({ name: tool, label, branchId, seq }) => (
              <Link
                key={`${seq} ${tool}`}
                to={{ history: branchId === 0 ? history : `${history}:${branchId}`, at: label }}
                open={open}
                label={`${tool} failed, ${label} of ${title}`}
              >
                {label}
              </Link>
            ))}
          </>
        )}
      </span>
      <span class="num col-tokens">{grouped(tokens)}</span>
      <span class="num col-cost">{costWords(row)}</span>
      <span class="col-ended">
        {row.end !== null && row.end.exitCode !== 0 && (
          <span class="bad-text">exit {row.end.signal ?? row.end.exitCode} </span>
        )}
        <SafeText text={ended ?? '–'} />
      </span>
      <span class="col-parts">
        {row.isFirst ? (
          <span class="quiet">the first</span>
        ) : parts === null ? (
          ''
        ) : (
          <>
            <Link to={{ history, at: parts.label }} open={open}>
              {parts.label}
            </Link>{' '}
            <SafeText text={`${parts.here} | ${parts.there}`} />
          </>
        )}
      </span>
      <span class="num col-branches">{row.branches}</span>
      <span class="num col-acts">{row.interventions}</span>
      <time class="num quiet col-last" dateTime={isoTime(updatedAt)} title={isoTime(updatedAt)}>
        {shortTime(updatedAt)}
      </time>
    </div>
  );
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

export const GroupRow = ({ head: { title, members } }: { readonly head: GroupHead }): ComponentChildren => {
  const failed = sum(members.map((row) => row.failed));
  return (
    <div class="run-row run-group" role="listitem">
      <span />
      <span class="run-name">
        <b>
          <SafeText text={title} />
        </b>{' '}
        <span class="quiet">
          {plural(members.length, 'run')} · <SafeText text={members[0]?.preview ?? ''} />
        </span>
      </span>
      <span class="num col-calls">{rangeOf(members.map(({ calls }) => calls))}</span>
      <span class="num col-tools">{rangeOf(members.map(({ called }) => called))}</span>
      <span class="num run-failed">
        {failed === 0 ? <span class="quiet">0</span> : <span class="bad-text">✕ {grouped(failed)}</span>}
      </span>
      <span class="num col-tokens">{grouped(sum(members.map(({ tokens }) => tokens)))}</span>
      <span class="col-cost" />
      <span class="col-ended" />
      <span class="col-parts" />
      <span class="col-branches" />
      <span class="col-acts" />
      <span class="col-last" />
    </div>
  );
};
