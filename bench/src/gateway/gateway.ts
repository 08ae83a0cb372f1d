import { historyId } from '@stemma/history';
import { brokerLibs, freshDatabase, missingTools, startBroker, startPostgres } from '@stemma/test-kit';
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { median, spread, timed, type Spread } from '../measure.ts';
import { figure, type Aim, type BenchmarkOptions, type Report } from '../table.ts';
import { openProcesses } from './processes.ts';

type Measured = { readonly many: number; readonly half: Spread; readonly single: number };
type System = { readonly title: string; readonly env: NodeJS.ProcessEnv; readonly apart: boolean };

const EMBEDDED = 'embedded log, rows in the directory';
const APART = 'Kafka, PostgreSQL, three projectors apart';
const HISTORIES = 8;
const AT_ONCE = 64;

/** A command of one block to a branch by its branch id. */
const send = async (url: string, history: number, id: string): Promise<void> => {
  const to = `${historyId(`agent-${history}`, '')}:0`;
  const node = { nodeType: 'cb', role: 'assistant', kind: 'text', content: `What was said in ${id}` };
  await post(`${url}/api/histories/${to}/commands`, {
    id,
    recorder: 'bench',
    steps: [{ op: 'insert', parent: '^ah', node }],
  });
};
/** Connections are kept open; a client that is slower than the gateway would measure itself. */
const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
const post = (url: string, body: unknown): Promise<void> =>
  new Promise((resolve, reject) => {
    const bytes = Buffer.from(JSON.stringify(body));
    const headers = { 'content-type': 'application/json', 'content-length': bytes.length };
    request(url, { method: 'POST', agent, headers }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('error', reject);
      answer.on('end', () => {
        if (answer.statusCode === 200 || answer.statusCode === 201) resolve();
        else reject(new Error(`${answer.statusCode ?? 0} ${Buffer.concat(pieces).toString()}`));
      });
    })
      .on('error', reject)
      .end(bytes);
  });

const measure = async (url: string, commands: number): Promise<Measured> => {
  for (let history = 0; history < HISTORIES; history++)
    await post(`${url}/api/histories`, {
      id: `start:${history}`,
      recorder: 'bench',
      name: `agent-${history}`,
    });
  const run = async (name: string, ahead: number, histories: number, count: number): Promise<number> => {
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let n = next++; n < count; n = next++) await send(url, n % histories, `${name}${n}`);
    };
    const { ms } = await timed(() => Promise.all(Array.from({ length: ahead }, worker)));
    return (count * 1000) / ms;
  };
  await run('warm', AT_ONCE, HISTORIES, Math.ceil(commands / 4));
  const many = await run('many', AT_ONCE, HISTORIES, commands);
  // Sent when it is their time, whether or not those before have been answered: waiting counts.
  const every = 2000 / many;
  const began = performance.now();
  const latencies = await Promise.all(
    Array.from({ length: commands }, async (_, n) => {
      const due = began + n * every;
      await sleep(Math.max(0, due - performance.now()));
      await send(url, n % HISTORIES, `half${n}`);
      return performance.now() - due;
    }),
  );
  const single = await run('single', 1, 1, Math.ceil(commands / 8));
  return { many, half: spread(latencies), single };
};

const measureSystem = async (
  { env, apart }: System,
  directory: string,
  commands: number,
): Promise<Measured> => {
  const processes = openProcesses();
  try {
    const all = { STEMMA_HOME: directory, STEMMA_PORT: '0', STEMMA_LOG: '', STEMMA_ROWS: '', ...env };
    const url = await processes.start('gateway', [], all, /Stemma is at (\S+)/);
    for (const model of apart ? ['audit', 'diffs', 'stages'] : [])
      await processes.start('projector', ['--read-model', model], all, /(projecting)/);
    return await measure(url, commands);
  } finally {
    await processes.end();
  }
};

const aimsAt = (measured: ReadonlyMap<string, readonly Measured[]>): readonly Aim[] => {
  const aim = (title: string, what: string, least: number, of: (one: Measured) => number): Aim => {
    const found = median((measured.get(title) ?? []).map(of));
    const most = least < 0;
    return {
      what: `${title}: ${what}`,
      aim: `${most ? '≤' : '≥'} ${figure(Math.abs(least))}`,
      measured: figure(found),
      met: most ? found <= -least : found >= least,
    };
  };
  return [
    aim(EMBEDDED, 'commands a second', 5_000, ({ many }) => many),
    aim(EMBEDDED, 'p99 at half of it, ms', -40, ({ half }) => half.p99),
    aim(APART, 'commands a second', 1_500, ({ many }) => many),
    aim(APART, 'one at a time, a second', 100, ({ single }) => single),
  ];
};

/** Commands a second over HTTP: gateway, log and rows, as one process and apart. */
export const gateway = async ({ directory, quick, rounds }: BenchmarkOptions): Promise<Report> => {
  const missing = missingTools();
  if (missing !== undefined) throw new Error(missing);
  const postgres = await startPostgres({ settings: { fsync: 'on', full_page_writes: 'on' } });
  const broker = await startBroker({ libs: await brokerLibs(), directory: join(directory, 'broker') });
  try {
    const commands = quick ? 200 : 5000;
    const measured = new Map<string, Measured[]>();
    for (let round = 0; round < rounds; round++) {
      const database = await freshDatabase(postgres.url);
      const kafka = (): string => `kafka://${broker.address}/bench-${randomUUID()}?partitions=6`;
      const systems: readonly System[] = [
        { title: EMBEDDED, env: {}, apart: false },
        { title: 'Kafka, rows of its own', env: { STEMMA_LOG: kafka() }, apart: false },
        {
          title: APART,
          env: { STEMMA_LOG: kafka(), STEMMA_ROWS: database.url },
          apart: true,
        },
      ];
      for (const [i, system] of systems.entries()) {
        const figures = await measureSystem(system, join(directory, `${round}-${i}`), commands);
        measured.set(system.title, [...(measured.get(system.title) ?? []), figures]);
      }
      await database.drop();
    }
    return {
      name: 'gateway',
      tables: [
        {
          title: 'Commands over HTTP: gateway, log, rows',
          columns: [
            '',
            '64 at once, a second',
            'at half of it: ms, median',
            'p99',
            'one at a time, a second',
          ],
          rows: [...measured].map(([title, all]) => [
            title,
            ...[
              median(all.map(({ many }) => many)),
              median(all.map(({ half }) => half.median)),
              median(all.map(({ half }) => half.p99)),
              median(all.map(({ single }) => single)),
            ].map(figure),
          ]),
          notes: [
            `${rounds} rounds of ${commands} commands of one block; medians. 64 at once go to ${HISTORIES} histories, one at a time to one.`,
            'Who sends, the gateway, the broker, the database and the projectors share the machine.',
          ],
        },
      ],
      aims: aimsAt(measured),
      figures: Object.fromEntries(measured),
    };
  } finally {
    await broker.stop('SIGKILL');
    await postgres.remove();
  }
};
