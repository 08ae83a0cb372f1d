import { fidelityNote } from '@stemma/api';
import { branchRefOf } from '@stemma/history-store';
import type { AnyCall, CallAttempt, ProviderCall } from '@stemma/queries';
import { time } from './time.ts';

/** What else there is to know of an attempt: its choices, where it belongs, and what it led to. */
export const noteOf = ({ choices, fidelity, reassignedTo, assignedFrom, ledTo }: CallAttempt): string =>
  [
    fidelity === null ? '' : fidelityNote(fidelity),
    choices !== null && choices > 1 ? `${choices} choices` : '',
    reassignedTo === null
      ? ''
      : `assigned to ${branchRefOf(reassignedTo.history, reassignedTo.branchId).branch}: not counted here`,
    assignedFrom === null ? '' : `assigned from ${assignedFrom.history}`,
    ...ledTo.map(({ history, branchId }) => `led to ${branchRefOf(history, branchId).branch}`),
  ]
    .filter((part) => part !== '')
    .join('; ');

/** What is said of a call without messages in place of a position: `POST embeddings`. */
const wordOf = ({ method, path }: ProviderCall): string =>
  `${method} ${path?.split('/').findLast((part) => part !== '') ?? ''}`.trimEnd();

/** @returns of a call without messages, too */
export const cellsOf = (attempt: AnyCall): string[] => [
  'method' in attempt ? wordOf(attempt) : attempt.label,
  time(attempt.at),
  attempt.model ?? '-',
  statusOf(attempt),
  tokensOf(attempt),
  costOf(attempt),
  durationOf(attempt.firstByteMs),
  durationOf(attempt.durationMs),
  attempt.attemptId,
];

/** How an attempt ended, with the code of HTTP and of the provider if it failed. */
export const statusOf = ({ status, httpStatus, error }: AnyCall): string =>
  [status, status === 'answered' || httpStatus === null ? '' : String(httpStatus), error?.code ?? '']
    .filter((part) => part !== '')
    .join(' ');

export const tokensOf = ({ usage }: AnyCall): string =>
  usage === null ? '-' : `${usage.input ?? '?'} → ${usage.output ?? '?'}`;

export const costOf = ({ cost }: AnyCall): string =>
  cost === null ? '-' : `${cost.amount} ${cost.currency}`;

export const durationOf = (ms: number | null): string =>
  ms === null ? '-' : ms < 10_000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`;
