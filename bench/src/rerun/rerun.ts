import { join } from 'node:path';
import { probe } from '../probe.ts';
import { figure, type Aim, type BenchmarkOptions, type Report } from '../table.ts';
import type { Served, ServedCallTimes } from './serve.ts';

/** Milliseconds at the middle of all served calls. */
const LIMIT = 2;

/** What a call takes that is answered from the record, at lists of many messages. */
export const rerun = async ({ directory, quick, rounds }: BenchmarkOptions): Promise<Report> => {
  const rows: (readonly [messages: number, Served])[] = [];
  for (const messages of quick ? [20] : [20, 200, 1_000]) {
    const input = { directory: join(directory, String(messages)), messages, reruns: quick ? 1 : 2 * rounds };
    rows.push([messages, (await probe<Served>('rerun/serve', input)).value]);
  }
  const cells = ({ p50, p99, processor }: ServedCallTimes): readonly string[] => [
    figure(p50),
    figure(p99),
    figure(processor),
  ];
  const atTwoHundred = rows.find(([messages]) => messages === 200)?.[1];
  const aims: readonly Aim[] = (['same', 'bound'] as const).flatMap((how) => {
    const p50 = atTwoHundred?.[how].p50;
    const measured = p50 === undefined ? '–' : `${figure(p50)} ms`;
    return [
      {
        what: `a served call (${how}) at 200 messages`,
        aim: `≤ ${LIMIT} ms`,
        measured,
        met: (p50 ?? 0) <= LIMIT,
      },
    ];
  });
  return {
    name: 'rerun',
    tables: [
      {
        title: 'Calls that are answered from the record',
        columns: ['messages', 'same, p50 ms', 'p99', 'processor', 'bound, p50 ms', 'p99', 'processor'],
        rows: rows.map(([messages, { same, bound }]) => [figure(messages), ...cells(same), ...cells(bound)]),
        notes: [
          'One conversation whose list grows by two messages a call, over HTTP on one connection, client and server in one process; the last tenth of its calls.',
          'Processor: milliseconds of processor time to read a request, to find its call and to have the answer, the mean of all calls; HTTP and the client take the rest.',
          'Bound: the system message has a time and an id of its own, which are put back into each answer.',
        ],
      },
    ],
    aims,
    figures: { rows },
  };
};
