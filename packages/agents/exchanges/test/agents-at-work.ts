import type { WideJson } from '@stemma/canonical';
import type { Home } from '@stemma/home';
import {
  endExchange,
  readExchangeEnd,
  readExchangeStart,
  startExchange,
  type ExchangeStart,
} from '../src/index.ts';
import { APIS, Rerun, Session, type Chance, type MadeCall, type World } from './generated-agents.ts';
import { WIRES } from './wire-forms.ts';

const BY = { recorder: 'test' };
const JSON_TYPE = 'application/json';
const bytesOf = (value: WideJson): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

type Started = Awaited<ReturnType<typeof startExchange>>;

/** Notes calls as a proxy does: the beginning of a call waits for the ends that came before it, and for nothing else. */
export class Recording {
  home: Home;
  readonly #scope: ExchangeStart['scope'];
  readonly started = new Map<string, Promise<Started>>();
  readonly #ends: Promise<unknown>[] = [];
  #ready: Promise<unknown> = Promise.resolve();

  constructor(home: Home, scope: ExchangeStart['scope']) {
    this.home = home;
    this.#scope = scope;
  }

  begin(call: MadeCall, chance: Chance): void {
    const { path, request } = WIRES[call.api];
    const body = bytesOf(request(call, chance));
    const start: ExchangeStart = {
      ...{ id: call.id, by: BY, scope: this.#scope },
      request: { form: 'wire', method: 'POST', path, contentType: JSON_TYPE, coding: null, body },
    };
    const { home } = this;
    const read = readExchangeStart(start);
    // In the order of the journal, and none waits until another is recorded.
    const ready = Promise.all([read, this.#ready, ...this.#ends]);
    this.#ready = ready;
    this.started.set(
      call.id,
      ready.then(([known]) => startExchange(home, start, known)),
    );
  }

  end(call: MadeCall): void {
    const { path, response } = WIRES[call.api];
    const { home } = this;
    const act = async (): Promise<void> => {
      const { branch } = (await this.started.get(call.id)) as Started;
      const whole = { form: 'wire', httpStatus: 200, contentType: JSON_TYPE, coding: null } as const;
      const end = await readExchangeEnd(
        { method: 'POST', path },
        {
          ...{ status: 'answered', firstByteMs: null, durationMs: null, error: null },
          response: { ...whole, body: bytesOf(response(call)) },
        },
      );
      await endExchange(home, { id: call.id, by: BY }, end, branch);
    };
    this.#ends.push(act());
  }

  async settle(): Promise<void> {
    await Promise.all(this.started.values());
    await Promise.all(this.#ends);
  }
}

/** Has agents work beside each other, and notes their calls. @returns the calls, in the order they were made */
export const work = async (
  world: World,
  recording: Recording,
  reopen: () => Promise<Home>,
): Promise<MadeCall[]> => {
  const { chance } = world;
  const systems = ['You run a harbour.', 'You watch the sea.'];
  const session = (options: Partial<ConstructorParameters<typeof Session>[1]> = {}): Session =>
    new Session(world, {
      ...{ api: chance.pick(APIS), system: chance.pick(systems), calls: 2 + chance.below(7) },
      ...{ task: `Look at ${world.run}, case ${world.next++}.`, ...options },
    });
  const first = session({ isTwin: chance.often(15) });
  const waiting: (Session | Rerun)[] = [first];
  if (first.isTwin) waiting.push(session({ ...first.like, isTwin: true, twin: first.conversation }));
  if (chance.often(30)) waiting.push(session());
  const made: MadeCall[] = [];
  const working = new Map<Session | Rerun, MadeCall>();
  while (waiting.length > 0 || working.size > 0) {
    const isNext = waiting.length > 0 && (working.size === 0 || chance.often(50));
    if (isNext) {
      const agent = chance.pick(waiting);
      waiting.splice(waiting.indexOf(agent), 1);
      const call = agent.next();
      made.push(call);
      recording.begin(call, chance);
      working.set(agent, call);
    } else {
      const [agent, call] = chance.pick([...working]);
      working.delete(agent);
      if (call.end === 'answered') recording.end(call);
      for (const { prompt, parent, isRephrased } of agent.asked.splice(0))
        if (made.length < MOST_CALLS)
          waiting.push(
            session({
              ...{ api: agent.api, parent: isRephrased ? null : parent, calls: 1 + chance.below(3) },
              task: isRephrased ? `In other words, ${world.next++}.` : prompt,
            }),
          );
      if (!agent.isOver) waiting.push(agent);
      else if (agent instanceof Session && agent.straight.length > 1 && !agent.isTwin && chance.often(25))
        waiting.push(new Rerun(world, agent.straight));
    }
    if (chance.often(20)) await recording.settle();
    if (chance.often(3)) {
      await recording.settle();
      recording.home = await reopen();
    }
  }
  await recording.settle();
  return made;
};

/** Helpers may ask for helpers. */
const MOST_CALLS = 40;

/** What calls came to that is not what they were made as. */
export const faultsOf = async (
  calls: readonly MadeCall[],
  recording: Recording,
): Promise<readonly string[]> => {
  const faults: string[] = [];
  const [histories, branches] = [new Bijection(), new Bijection()];
  const { histories: listed } = await recording.home.read.listHistories({ limit: 1_000 });
  const links = new Map(
    listed.flatMap(({ history, branches: each }) => each.map((b) => [`${history} ${b.branchId}`, b])),
  );
  for (const { id, truth } of calls) {
    const { branch, match } = (await recording.started.get(id)) as Started;
    const say = (what: string): void => void faults.push(`${id} (${truth.what}, ${match}): ${what}`);
    const key = `${branch.history} ${branch.branchId}`;
    const other = histories.differs(truth.conversation, branch.history);
    if (other !== undefined) say(`is in ${branch.history}, and ${other}`);
    else if (truth.branch !== null) {
      const beside = branches.differs(truth.branch, key);
      if (beside !== undefined) say(`is on ${key}, and ${beside}`);
    }
    if (truth.isAgain !== (match === 'repeated') && truth.branch !== null)
      say(truth.isAgain ? 'is no other attempt' : 'is another attempt');
    if (truth.isUnknown && match !== 'started') say('is said to go on');
    const link = links.get(key)?.calledBy ?? null;
    if (match !== 'started') continue;
    // The same prompt may be asked for again, in a rerun.
    const parent = calls.find((each) => each.id === truth.parent);
    const asked = parent && JSON.stringify(parent.answer);
    const isAsker = calls.some(
      (each) => each.id === link?.attemptId && JSON.stringify(each.answer) === asked,
    );
    if (truth.parent !== null && !isAsker)
      say(`is not called by ${truth.parent}, but ${link?.attemptId ?? 'by nobody'}`);
    if (truth.parent === null && link?.why === 'argument') say(`is called by ${link.attemptId}`);
  }
  return faults;
};

/** What belongs together, each to one. */
class Bijection {
  readonly #there = new Map<string, string>();
  readonly #back = new Map<string, string>();

  differs(a: string, b: string): string | undefined {
    const [known, owner] = [this.#there.get(a), this.#back.get(b)];
    if (known === undefined && owner === undefined) {
      this.#there.set(a, b);
      this.#back.set(b, a);
    }
    if (known !== undefined && known !== b) return `${a} was in ${known}`;
    return owner !== undefined && owner !== a ? `that has ${owner}` : undefined;
  }
}
