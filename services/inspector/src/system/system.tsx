import { ENDPOINTS, type AnswerOf, type Endpoints } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import '../style/more-views.css';
import { useQuery, type Query } from '../asking/queries.ts';
import type { LiveState } from '../page/live.ts';
import { grouped, isoTime } from '../parts/words.ts';
import type { PageView } from '../parts/page-view.ts';

const numbers = (value: unknown): readonly (readonly [name: string, value: number])[] =>
  Object.entries(value as Readonly<Record<string, unknown>>).flatMap(([name, each]) =>
    typeof each === 'number' ? [[name, each] as const] : [],
  );

/** Names of counts as words: `logBytes` is log bytes. */
const wordsOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

type Doctor = AnswerOf<Endpoints['doctor']>;
type Stats = AnswerOf<Endpoints['stats']>;

/** The log, the rows made of it, what is damaged, and how much room all of it takes. */
export const View: PageView = ({ live }) => {
  const doctor = useQuery('now/list/doctor', (client) => client.doctor({}));
  const stats = useQuery('now/list/stats', (client) => client.stats({}));
  return (
    <div class="view-scroll system">
      <Findings doctor={doctor} server={live.state()} />
      <LogAndRows doctor={doctor} />
      <Versions doctor={doctor} />
      <Sizes stats={stats} />
      <p class="quiet">
        <a href={ENDPOINTS.doctor.path}>as JSON</a>, <a href="/openapi.json">the API</a>. On the command line:{' '}
        <code>./stemma doctor</code>, <code>./stemma stats</code>, <code>./stemma verify</code>.
      </p>
    </div>
  );
};

/** What is damaged, and what else the operator should know. */
const Findings = ({
  doctor,
  server,
}: {
  readonly doctor: Query<Doctor>;
  readonly server: LiveState;
}): ComponentChildren => (
  <section class="panel" aria-label="Findings">
    <header class="panel-head">
      <h2>Findings</h2>
      <span class="quiet">the server is {server}</span>
    </header>
    <Shown query={doctor} what="findings">
      {({ findings, stopped, altered, keepsItsEnd }) => (
        <ul class="findings">
          {stopped.length + altered.length === 0 && (
            <li>Nothing recorded is damaged, as far as it was read.</li>
          )}
          {stopped.map((history) => (
            <li key={history} class="gone">
              <b>damaged</b> <SafeText text={history} />: <code>./stemma verify</code> says where
            </li>
          ))}
          {altered.map(({ partition, offset }) => (
            <li key={`${partition} ${offset}`} class="gone">
              <b>damaged</b> a record at {grouped(offset)} of partition {partition}, after rows had been made
              of it
            </li>
          ))}
          {findings.map(({ level, message }) => (
            <li key={message}>
              <span class={`badge ${level === 'note' ? '' : 'gone'}`}>{level}</span>{' '}
              <SafeText text={message} />
            </li>
          ))}
          <li class="quiet">
            What is acknowledged {keepsItsEnd ? 'survives' : 'may not survive'} a power failure.
          </li>
        </ul>
      )}
    </Shown>
  </section>
);

const LogAndRows = ({ doctor }: { readonly doctor: Query<Doctor> }): ComponentChildren => (
  <section class="panel" aria-label="Log and rows">
    <header class="panel-head">
      <h2>Log and rows</h2>
    </header>
    <Shown query={doctor} what="log">
      {({ log, partitions, clock, topic }) => (
        <div class="system-table" tabIndex={0} role="region" aria-label="Partitions">
          <p class="quiet">
            <SafeText text={`${log.address}, ${log.id}`} />
            {topic !== null && (
              <>
                , topic <SafeText text={topic.topic} /> on {topic.brokers} brokers
              </>
            )}
            {clock.newest !== null && `, newest frame ${isoTime(clock.newest)}`}
          </p>
          <table>
            <thead>
              <tr>
                {['partition', 'end', 'rows', 'lag', 'accepted', 'stale', 'damaged'].map((name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {partitions.map((one) => (
                <tr key={one.partition}>
                  <th scope="row">
                    {one.partition}
                    {one.closed && ' closed'}
                  </th>
                  {[
                    one.end,
                    one.rows,
                    one.lag,
                    one.accepted,
                    Object.values(one.stale).reduce((all, each) => all + each, 0),
                    one.damaged,
                  ].map((value, i) => (
                    <td key={i}>{grouped(value)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Shown>
  </section>
);

const Versions = ({ doctor }: { readonly doctor: Query<Doctor> }): ComponentChildren => (
  <section class="panel" aria-label="Versions">
    <header class="panel-head">
      <h2>Versions</h2>
    </header>
    <Shown query={doctor} what="versions">
      {({ versions }) => (
        <dl class="facts system-sizes">
          <div>
            <dt>Stemma</dt>
            <dd>{versions.stemma}</dd>
          </div>
          <div>
            <dt>Node.js</dt>
            <dd>{versions.node}</dd>
          </div>
          <div>
            <dt>frames of the log</dt>
            <dd>version {versions.frames}</dd>
          </div>
          {versions.rows.map((layout) => (
            <div key={layout}>
              <dt>rows</dt>
              <dd>{layout.replaceAll('+', ', ').replaceAll('@', ' ')}</dd>
            </div>
          ))}
        </dl>
      )}
    </Shown>
  </section>
);

const Sizes = ({ stats }: { readonly stats: Query<Stats> }): ComponentChildren => (
  <section class="panel" aria-label="Sizes">
    <header class="panel-head">
      <h2>Sizes</h2>
    </header>
    <Shown query={stats} what="sizes">
      {(value) => (
        <dl class="facts system-sizes">
          {numbers(value).map(([name, each]) => (
            <div key={name}>
              <dt>{wordsOf(name)}</dt>
              <dd>{grouped(each)}</dd>
            </div>
          ))}
        </dl>
      )}
    </Shown>
  </section>
);
