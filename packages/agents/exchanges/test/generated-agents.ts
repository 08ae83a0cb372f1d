import type { WideJson } from '@stemma/canonical';

/*
 * Sessions of agents that are made up from a seed. A session knows what it does, so it knows whose each of its calls is; nothing here
 * asks how calls are placed.
 */

/** A message, in no API's form. */
export type Said =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly SaidCall[] }
  | { readonly role: 'tool'; readonly id: string; readonly text: string };
export type SaidCall = { readonly id: string; readonly name: string; readonly args: WideJson };

export const APIS = ['chat', 'responses', 'anthropic'] as const;
export type Api = (typeof APIS)[number];

/** A call that an agent makes, and what is true of it. */
export type MadeCall = {
  readonly id: string;
  readonly api: Api;
  readonly system: string;
  readonly messages: readonly Said[];
  readonly answer: Extract<Said, { role: 'assistant' }>;
  /** The response that the provider is told to go on from, and how many messages it has with it. */
  readonly previous: { readonly id: string; readonly messages: number } | null;
  /** `lost`: the client got the answer, and nobody recorded it; `none`: it got none. */
  readonly end: 'answered' | 'lost' | 'none';
  readonly truth: {
    readonly conversation: string;
    /** Null: another conversation begins alike, and one of both goes on there. */
    readonly branch: string | null;
    /** It is another attempt of a call that was made before. */
    readonly isAgain: boolean;
    /** Nobody can know from what is recorded whose it is: it may begin a history, and never is of another conversation. */
    readonly isUnknown: boolean;
    /** The call that asked for its conversation; null: nobody did. */
    readonly parent: string | null;
    readonly what: string;
  };
};

export type Chance = {
  /** Below the number. */
  readonly below: (n: number) => number;
  readonly often: (percent: number) => boolean;
  readonly pick: <T>(of: readonly T[]) => T;
};

/** Mulberry32. */
export const chanceOf = (seed: number): Chance => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (n: number): number => Math.floor(next() * n);
  return {
    below,
    often: (percent) => below(100) < percent,
    pick: <T>(of: readonly T[]) => of[below(of.length)] as T,
  };
};

const WORDS =
  'anchor buoy crane dock eel ferry gull harbour isle jetty keel lock mast net oar pier quay reef sail tide'.split(
    ' ',
  );

/** What the sessions of one run share. */
export type World = { readonly run: string; readonly chance: Chance; next: number };

const number = (world: World): number => world.next++;
/** A sentence that nobody else says. */
const sentence = (world: World): string =>
  `${Array.from({ length: 6 }, () => world.chance.pick(WORDS)).join(' ')} ${number(world)}`;

/** One agent at work: it makes one call after the other. */
export class Session {
  readonly #world: World;
  readonly api: Api;
  readonly #system: string;
  readonly #parent: string | null;
  /** Another conversation begins alike. */
  readonly isTwin: boolean;
  /** What both begin with. */
  readonly like: { readonly api: Api; readonly system: string; readonly task: string };
  #conversation: string;
  #branch: string;
  #messages: Said[];
  readonly #done: MadeCall[] = [];
  /** The calls of the branch, each of which the next one goes on from. */
  #line: MadeCall[] = [];
  #plan: (() => MadeCall)[] = [];
  #left: number;
  /** Helpers that it asks for are started by who runs it. */
  readonly asked: { readonly prompt: string; readonly parent: string; readonly isRephrased: boolean }[] = [];

  constructor(
    world: World,
    {
      api,
      system,
      task,
      parent = null,
      twin,
      isTwin = false,
      calls,
    }: {
      readonly api: Api;
      readonly system: string;
      readonly task: string;
      readonly parent?: string | null;
      /** The conversation that begins alike. */
      readonly twin?: string | undefined;
      readonly isTwin?: boolean;
      readonly calls: number;
    },
  ) {
    this.#world = world;
    this.api = api;
    this.#system = system;
    this.#parent = parent;
    this.isTwin = isTwin;
    this.like = { api, system, task };
    this.#conversation = twin ?? `conversation ${number(world)}`;
    this.#branch = `${this.#conversation} ${number(world)}`;
    this.#messages = [{ role: 'user', text: task }];
    this.#left = calls;
  }

  get conversation(): string {
    return this.#conversation;
  }

  /** The calls that were made one after the other, each answered, before it did anything else. */
  get straight(): readonly MadeCall[] {
    const at = this.#done.findIndex(
      ({ end, truth }) => end !== 'answered' || (truth.what !== 'turn' && truth.what !== 'beginning'),
    );
    return at === -1 ? this.#done : this.#done.slice(0, at);
  }

  get isOver(): boolean {
    return this.#left <= 0 && this.#plan.length === 0;
  }

  /** The next call. The one before has ended, or nobody waits for it any more. */
  next(): MadeCall {
    this.#left--;
    const planned = this.#plan.shift();
    if (planned !== undefined) return planned();
    const last = this.#line.at(-1);
    if (last === undefined) return this.#make('beginning', {});
    if (last.end === 'none') return this.#make('retry', { isAgain: true });
    const { chance } = this.#world;
    const dice = chance.below(100);
    if (dice < 6) return this.#make('retry of an answered call', { isAgain: true });
    this.#messages = [...last.messages, last.answer, ...this.#reply(last.answer)];
    if (dice < 16 && this.#line.length > 1) return this.#fork();
    if (dice < 36 && this.#line.length > 1 && last.end === 'answered') return this.#compact(last);
    return this.#make('turn', { previous: this.#previousOf(last) });
  }

  /** What is said to an answer: results of its tools, or something new. */
  #reply({ calls }: MadeCall['answer']): Said[] {
    const { chance } = this.#world;
    if (calls.length === 0) return [chance.often(15) ? { role: 'user', text: 'Go on.' } : this.#something()];
    return calls.map(({ id }) => ({
      ...{ role: 'tool', id },
      text: chance.often(10) ? 'ok' : sentence(this.#world),
    }));
  }

  /** Goes back to an older call, and says something else. */
  #fork(): MadeCall {
    const at = this.#world.chance.below(this.#line.length - 1);
    const older = this.#line[at] as MadeCall;
    if (older.end !== 'answered') return this.#make('turn', {});
    this.#line = this.#line.slice(0, at + 1);
    this.#branch = `${this.#conversation} ${number(this.#world)}`;
    const results = older.answer.calls.map(({ id }): Said => ({
      role: 'tool',
      id,
      text: sentence(this.#world),
    }));
    const other: Said[] = results.length > 0 ? results : [this.#something()];
    this.#messages = [...older.messages, older.answer, ...other];
    return this.#make('fork', {});
  }

  #compact(last: MadeCall): MadeCall {
    const { chance } = this.#world;
    const reply = this.#messages.slice(last.messages.length + 1);
    const summary: Said = { role: 'user', text: `Summary: ${sentence(this.#world)}.` };
    const [task] = last.messages as [Said, ...Said[]];
    switch (chance.below(6)) {
      case 0:
        if (!isTelling(last.answer))
          return this.#startOver([summary, last.answer, this.#something()], 'compaction that keeps "OK."');
        this.#messages = [summary, last.answer, ...reply];
        return this.#make('compaction that keeps the last exchange', {});
      case 1:
        if (this.api === 'anthropic' || !isTelling(last.answer)) return this.#make('turn', {});
        this.#messages = [last.answer, ...reply];
        return this.#make('compaction that begins with the last answer', {});
      case 2: {
        const results = last.messages.filter(({ role }) => role === 'tool');
        if (results.length === 0) return this.#make('turn', {});
        this.#messages = this.#messages.map((message, i) =>
          message.role === 'tool' && i < last.messages.length ? { ...message, text: '[cleared]' } : message,
        );
        return this.#make('compaction that clears results', {});
      }
      case 3:
        // Behind a compaction that begins with an answer, its results would go without it.
        if (task.role === 'assistant') return this.#make('turn', {});
        this.#messages = [task, last.answer, ...reply];
        return this.#make('compaction that drops the middle', {});
      case 4: {
        const lines = Array.from({ length: 4 }, () => `- ${sentence(this.#world)}, ${sentence(this.#world)}`);
        this.#plan.push(() => {
          this.#messages = [{ role: 'user', text: `Go on from this:\n${lines.join('\n')}\nGo on.` }];
          return this.#make('compaction made of a summary', {});
        });
        this.#messages = [
          ...last.messages,
          last.answer,
          ...resultsOf(reply),
          { role: 'user', text: 'Summarise all of it.' },
        ];
        return this.#make(
          'call for a summary',
          {},
          {
            role: 'assistant',
            text: `<summary>\n${lines.join('\n')}\n</summary>`,
            calls: [],
          },
        );
      }
      default:
        return this.#startOver([summary], 'compaction that keeps nothing');
    }
  }

  /** Goes on, and keeps nothing that says whose it is. */
  #startOver(messages: Said[], what: string): MadeCall {
    this.#conversation = `conversation ${number(this.#world)}`;
    this.#branch = `${this.#conversation} main`;
    this.#line = [];
    this.#messages = messages;
    return this.#make(what, { isUnknown: true });
  }

  #something(): Said {
    return { role: 'user', text: sentence(this.#world) };
  }

  #previousOf(last: MadeCall): MadeCall['previous'] {
    if (this.api !== 'responses' || last.end !== 'answered' || !this.#world.chance.often(30)) return null;
    return { id: `resp_${last.id}`, messages: last.messages.length + 1 };
  }

  #make(
    what: string,
    {
      isAgain = false,
      isUnknown = false,
      previous = null,
    }: {
      readonly isAgain?: boolean;
      readonly isUnknown?: boolean;
      readonly previous?: MadeCall['previous'];
    },
    answer: MadeCall['answer'] = this.#answer(),
  ): MadeCall {
    const { chance, run } = this.#world;
    const last = this.#line.at(-1);
    const id = `${run}-${number(this.#world)}`;
    const again =
      isAgain && last !== undefined ? { messages: last.messages, previous: last.previous } : undefined;
    const dice = chance.below(100);
    const isPlanned = this.#plan.length > 0;
    const call: MadeCall = {
      ...{ id, api: this.api, system: this.#system, answer },
      ...(again ?? { messages: this.#messages, previous }),
      end: isPlanned || dice >= 15 ? 'answered' : dice < 10 ? 'none' : 'lost',
      truth: {
        conversation: this.#conversation,
        branch: this.isTwin && this.#line.length <= (again === undefined ? 0 : 1) ? null : this.#branch,
        ...{ isAgain, isUnknown, parent: this.#done.length === 0 ? this.#parent : null, what },
      },
    };
    if (isAgain) this.#line.pop();
    this.#line.push(call);
    this.#done.push(call);
    if (call.end === 'answered')
      for (const { args } of call.answer.calls) {
        const { prompt } = args as { readonly prompt?: string };
        if (prompt !== undefined) this.asked.push({ prompt, parent: id, isRephrased: chance.often(25) });
      }
    return call;
  }

  #answer(): MadeCall['answer'] {
    const { chance } = this.#world;
    const calls = chance.often(45)
      ? Array.from({ length: 1 + chance.below(2) }, () => ({
          id: `call_${number(this.#world)}`,
          ...(chance.often(30)
            ? { name: 'agent', args: { prompt: sentence(this.#world) } }
            : { name: 'look', args: { pier: chance.below(9) } }),
        }))
      : [];
    const text = calls.length > 0 && chance.often(50) ? '' : chance.often(15) ? 'OK.' : sentence(this.#world);
    return { role: 'assistant', text, calls };
  }
}

/** The same session again, with the same answers, up to a call that says something else. */
export class Rerun {
  readonly api: Api;
  readonly asked: Session['asked'] = [];
  readonly #world: World;
  readonly #calls: readonly MadeCall[];
  #at = 0;
  #last: MadeCall | undefined;

  constructor(world: World, calls: readonly MadeCall[]) {
    this.#world = world;
    this.#calls = calls;
    this.api = (calls[0] as MadeCall).api;
  }

  get isOver(): boolean {
    return this.#at > this.#calls.length;
  }

  next(): MadeCall {
    const id = `${this.#world.run}-${number(this.#world)}`;
    const at = this.#at++;
    const isLast = at === this.#calls.length - 1;
    const original = this.#calls[Math.min(at, this.#calls.length - 1)] as MadeCall;
    const { truth } = original;
    if (at < this.#calls.length - 1)
      return {
        ...original,
        id,
        previous: null,
        truth: { ...truth, isAgain: true, parent: null, what: 'rerun' },
      };
    const branch = this.#last?.truth.branch ?? `${truth.conversation} ${number(this.#world)}`;
    const answer: MadeCall['answer'] = { role: 'assistant', text: sentence(this.#world), calls: [] };
    const other = sentence(this.#world);
    const changed = { ...(original.messages.at(-1) as Said), text: other } as Said;
    const messages: readonly Said[] = isLast
      ? original.messages.with(-1, changed)
      : [
          ...(this.#last as MadeCall).messages,
          (this.#last as MadeCall).answer,
          { role: 'user', text: other },
        ];
    const what = isLast ? 'rerun that says something else' : 'turn of a rerun';
    const made: MadeCall = {
      ...{ id, api: this.api, system: original.system, messages, answer, previous: null, end: 'answered' },
      truth: { ...truth, branch, isAgain: false, parent: null, what },
    };
    this.#last = made;
    return made;
  }
}

/** False of an answer that is given to many questions: who keeps nothing else may be anybody. */
const isTelling = ({ text, calls }: MadeCall['answer']): boolean => calls.length > 0 || text !== 'OK.';

/** A model that called tools is told what they said before it is asked something else. */
const resultsOf = (reply: readonly Said[]): Said[] => reply.filter(({ role }) => role === 'tool');
