import {
  anyOperations,
  block,
  codeOf,
  COMMIT,
  type NaiveHistory,
  naiveHistory,
  perform,
  type TestSession,
  START,
  started,
} from '@stemma/test-kit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { interventionIn, positionsAround, type AppliedFrame, type Step } from '../../src/index.ts';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? 20);
const ACTOR = { actor: 'Ada' };

const intervene = ({ history }: TestSession, branchId: number, ...steps: Step[]): AppliedFrame =>
  history.submit(branchId, steps, 1n, ACTOR);

/** Random acts, each by a recorder or by an actor. */
const played = (acts: Parameters<typeof perform>[1][], authors: readonly boolean[]): AppliedFrame[] => {
  const frames: AppliedFrame[] = [];
  const history = naiveHistory((frame) => frames.push(frame));
  history.run(0, [START]);
  acts.forEach((each, i) => {
    const by = authors[i % authors.length] === true ? ACTOR : { recorder: 'agent' };
    const asOne: NaiveHistory = {
      ...history,
      run: (branchId, steps) => history.run(branchId, steps, by),
      branch: (how, parent, at) => {
        const to = {
          branchId: parent,
          seq: Math.min(at, history.state.loadedBranches.get(parent)?.seq ?? parent),
        };
        return history.run(parent, [how === 'fork' ? { op: 'fork', at: to } : { op: 'rollback', to }], by);
      },
    };
    perform(asOne, each);
  });
  return frames;
};

test(
  'every event is either a recorder’s own record or in a frame that begins with one intervention',
  { tags: ['pool:Interventions'] },
  () => {
    fc.assert(
      fc.property(
        anyOperations(10, 60),
        fc.array(fc.boolean(), { minLength: 3, maxLength: 7 }),
        (acts, authors) => {
          for (const { author, events } of played(acts, authors)) {
            const interventions = events.flatMap(({ type }, i) =>
              type === 'InterventionRecorded' ? [i] : [],
            );
            expect(interventions).toEqual('actor' in author ? [0] : []);
          }
        },
      ),
      { numRuns: RUNS },
    );
  },
);

test(
  'before and after of an intervention are positions of the log, and are equal if the intervention changes nothing on the branch',
  { tags: ['pool:Interventions'] },
  () => {
    fc.assert(
      fc.property(anyOperations(10, 60), (acts) => {
        const heads = new Map<number, number>();
        for (const frame of played(acts, [true])) {
          const started = frame.events.find((event) => event.type === 'BranchStarted');
          const of = started?.parent ?? frame.branchId;
          const facts = interventionIn(frame);
          if (facts !== null && frame.seq > 0) {
            const { before, after } = positionsAround(frame, heads.get(of) ?? null);
            const own = { branchId: frame.branchId, seq: frame.seq };
            const was = { branchId: of, seq: heads.get(of) };
            const target = { branchId: started?.parent, seq: started?.at };
            if (facts.type === 'fork') expect([before, after]).toEqual([target, target]);
            else if (facts.type === 'rollback') expect([before, after]).toEqual([was, target]);
            else if (facts.type === 'save' || facts.type === 'annotate')
              expect([before, after]).toEqual([was, was]);
            else expect([before, after]).toEqual([was, own]);
          }
          heads.set(frame.branchId, frame.seq);
        }
      }),
      { numRuns: RUNS },
    );
  },
);

test.each([
  [
    'message_inject',
    [{ op: 'inject', text: 'hi', vector_id: 3 }],
    { text: 'hi', source: 'manual', vector_id: 3, node: 'n:0:4:0' },
  ],
  [
    'message_inject',
    [{ op: 'inject', text: 'hi', source: 'mail', id: 'm' }, COMMIT],
    { text: 'hi', source: 'mail', vector_id: null, node: 'm' },
  ],
  [
    'config_change',
    [{ op: 'config', set: { active_pool_size: 40, max_blocks: 9 } }],
    {
      policy: { from: null, to: { max_blocks: 9, keep_turns: 0, pins: [] } },
      active_pool_size: { from: null, to: 40 },
    },
  ],
  [
    'fork',
    [{ op: 'fork', description: 'why not', at: { branchId: 0, seq: 2 } }],
    { forked_to: 'h-reference:4', description: 'why not' },
  ],
  ['rollback', [{ op: 'rollback', to: { branchId: 0, seq: 1 } }], { to: '@s1', abandoned: 'h-reference:0' }],
  [
    'external_query',
    [{ op: 'query', question: 'why?', answer: 'so', mind: 'offline' }],
    { question: 'why?', answer: 'so', mind: 'offline' },
  ],
  ['run', [{ op: 'run', rounds: 5, total_rounds_after: 12 }], { rounds: 5, total_rounds_after: 12 }],
  [
    'rollback',
    [{ op: 'retell', type: 'rollback', retold: { record: { content: { to: 'main@1' } } } }],
    { to: 'main@1', retold: { record: { content: { to: 'main@1' } } } },
  ],
  [
    'save',
    [{ op: 'save', name: 'good', description: 'keep' }],
    { name: 'good', position: '@s3', description: 'keep' },
  ],
  ['save', [{ op: 'save' }], { name: 's3', position: '@s3', description: '' }],
  [
    'annotate',
    [{ op: 'annotate', note: 'hm', position: { branchId: 0, seq: 2 } }],
    { position: '@s2', note: 'hm' },
  ],
  [
    'edit',
    [block('x'), { op: 'remove', id: 'a' }].slice(0, 1),
    { commands: [{ op: 'insert', id: 'x', parent: 'ah' }] },
  ],
  [
    'edit',
    [{ op: 'inject', text: 'hi' }, block('x')],
    {
      commands: [
        { op: 'insert', id: 'n:0:4:0', parent: 'ah' },
        { op: 'insert', id: 'x', parent: 'ah' },
      ],
    },
  ],
] as const)(
  'content of %s follows from its frame, and no text is in it twice: %j',
  { tags: ['pool:Interventions'] },
  (type, steps, content) => {
    const session = three();
    const frame = intervene(session, 0, ...(steps as readonly Step[]));
    expect(interventionIn(frame)).toEqual({ type, notes: '', content });
    const texts = JSON.stringify(frame.events, (_, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value instanceof Uint8Array ? null : value,
    );
    for (const text of ['"hi"', '"keep"', '"why not"', '"hm"', '"why?"'])
      expect(texts.split(text).length - 1).toBeLessThanOrEqual(1);
  },
);

/** Three cycles a, b, c on the root branch, frames 1, 2, 3. */
const three = (): TestSession => {
  const session = started();
  for (const id of ['a', 'b', 'c']) session.submit(block(id), COMMIT);
  return session;
};

test(
  'an intervention with values out of bounds or with an unknown target is refused with a code and changes nothing',
  { tags: ['pool:Interventions', 'context-tree§8:codes'] },
  () => {
    const session = three();
    const fork = session.history.fork(0, 1, 'other');
    session.on(fork, block('d'), COMMIT);
    const [next, before] = [session.history.state.next, session.export()];
    const refused = (steps: Step[], by: object = ACTOR, branchId = 0): string | undefined =>
      codeOf(() => session.history.submit(branchId, steps, 1n, by as never));
    expect([
      refused([{ op: 'rollback', to: { branchId: fork, seq: 5 } }]),
      refused([{ op: 'rollback', to: { branchId: 0, seq: 3 } }], ACTOR, fork),
      refused([{ op: 'fork', at: { branchId: 0, seq: 99 } }]),
      refused([{ op: 'fork', at: { branchId: 2, seq: 2 } }]),
      refused([{ op: 'fork', name: 'other' }]),
      refused([{ op: 'fork', name: '12' }]),
      refused([{ op: 'inject', text: 'x' }], { actor: 'x'.repeat(10_240) }),
      refused([{ op: 'inject', text: 'x' }], { actor: 'a\nb' }),
      refused([{ op: 'inject', text: 'x' }], { recorder: 'agent' }),
      refused([{ op: 'annotate', note: 'bell \u0007' }]),
      refused([{ op: 'config', set: { '9': 1 } }]),
      refused([{ op: 'config', set: { thread: 'pre' } }]),
      refused([{ op: 'config', set: { big: 'x'.repeat(70_000) } }]),
      refused([{ op: 'fork' }, COMMIT]),
      refused([{ op: 'save', name: 'a b' }]),
      refused([{ op: 'annotate', note: 'x', position: { branchId: 2, seq: 3 } }]),
    ]).toEqual([
      'E_NOT_ON_ANCESTOR_PATH',
      'E_NOT_ON_ANCESTOR_PATH',
      'E_SNAPSHOT_NOT_FOUND',
      'E_SNAPSHOT_NOT_FOUND',
      'E_NAME_TAKEN',
      'E_NAME_INVALID',
      'E_ACTOR_INVALID',
      'E_ACTOR_INVALID',
      'E_ACTOR_REQUIRED',
      'E_NOTES_INVALID',
      'E_CONFIG_INVALID',
      'E_CONFIG_INVALID',
      'E_CONFIG_INVALID',
      'E_COMMAND_INVALID',
      'E_NAME_INVALID',
      'E_SNAPSHOT_NOT_FOUND',
    ]);
    expect([session.history.state.next, session.export()]).toEqual([next, before]);
  },
);

test(
  'a configuration holds from its frame on, and a fork or rollback takes the configuration at its target',
  { tags: ['pool:Interventions', 'context-tree§10.21'] },
  () => {
    const session = three();
    session.submit({ op: 'config', set: { k: 1, other: [1] } });
    session.submit({ op: 'config', set: { k: 2, other: null } });
    const configs = [3, 4, 5].map(
      (at) => session.history.parts(session.history.fork(0, at, null), null).config,
    );
    expect(configs).toEqual([{}, { k: 1, other: [1] }, { k: 2 }]);
    const back = session.history.rollback(0, 4, null);
    expect(session.history.parts(back, null).config).toEqual({ k: 1, other: [1] });
  },
);

const config = (set: Record<string, number | string[]>): Step => ({ op: 'config', set });

test(
  'a key of the policy that is set in the configuration changes the policy, and the others of the policy stay',
  { tags: ['pool:Interventions'] },
  () => {
    const session = three();
    const policies = [
      config({ max_blocks: 9, keep_turns: 2, pins: ['a'] }),
      config({ max_blocks: 8 }),
      config({ keep_turns: 3 }),
      config({ pins: ['b', 'c'] }),
    ].map((step) => {
      intervene(session, 0, step);
      return session.history.parts(0, null).policy;
    });
    expect(policies).toEqual([
      { max_blocks: 9, keep_turns: 2, pins: ['a'] },
      { max_blocks: 8, keep_turns: 2, pins: ['a'] },
      { max_blocks: 8, keep_turns: 3, pins: ['a'] },
      { max_blocks: 8, keep_turns: 3, pins: ['b', 'c'] },
    ]);
    expect(session.history.parts(0, null).config).toEqual({});
    expect(codeOf(() => intervene(started(), 0, config({ keep_turns: 3 })))).toBe('E_POLICY_INVALID');
  },
);

test(
  'a name that the actor gives is used unchanged or refused as taken; only a generated name is changed to avoid one that is taken',
  { tags: ['pool:Interventions'] },
  () => {
    const session = three();
    const nameOf = (step: Step): unknown => interventionIn(intervene(session, 0, step))?.content['name'];
    expect(nameOf({ op: 'save', name: 'good' })).toBe('good');
    for (const position of [undefined, { branchId: 0, seq: 1 }])
      expect(
        codeOf(() =>
          intervene(session, 0, {
            op: 'save',
            name: 'good',
            ...(position === undefined ? {} : { position }),
          }),
        ),
      ).toBe('E_NAME_TAKEN');
    const made = [1, 2, 3].map(() => nameOf({ op: 'save', position: { branchId: 0, seq: 2 } }));
    expect(made).toEqual(['s2', 's2-', 's2--']);
    expect(codeOf(() => intervene(session, 0, { op: 'save', name: 's2-' }))).toBe('E_NAME_TAKEN');
    expect(codeOf(() => intervene(session, 0, { op: 'name', name: 'x' }, { op: 'save', name: 'x' }))).toBe(
      'E_NAME_TAKEN',
    );
  },
);

const INJECT: Step = { op: 'inject', text: 'hi' };
const POLICY: Step = { op: 'policy', policy: null };
const NAME: Step = { op: 'name', name: 'x' };
const SAVE: Step = { op: 'save', name: 'y' };
const NOTE: Step = { op: 'annotate', note: 'hm' };

test.each<[string, Step[]]>([
  ['config_change', [config({ k: 1 }), NAME]],
  ['config_change', [NAME, config({ k: 1 })]],
  ['config_change', [config({ k: 1 }), POLICY, SAVE, NOTE]],
  ['config_change', [config({ k: 1 }), COMMIT]],
  ['message_inject', [INJECT, COMMIT, SAVE]],
  ['message_inject', [NOTE, INJECT]],
  ['edit', [INJECT, config({ k: 1 })]],
  ['edit', [block('n'), NAME]],
  ['edit', [COMMIT, NAME, NOTE]],
  ['edit', [COMMIT]],
  ['save', [NAME]],
  ['save', [SAVE, NOTE]],
  ['save', [NOTE, NAME]],
  ['annotate', [NOTE]],
])(
  'an intervention is a %s: a name, a note or a commit beside other steps does not change its type, %j',
  { tags: ['pool:Interventions'] },
  (type, steps) => {
    expect(intervene(three(), 0, ...steps).events[0]).toMatchObject({
      type: 'InterventionRecorded',
      intervention: type,
    });
  },
);

test(
  'observations change no branch: decisions, ids and hashes are the same with and without them',
  { tags: ['pool:Observations'] },
  () => {
    const look = (session: TestSession): AppliedFrame =>
      intervene(session, 0, {
        op: 'observe',
        observations: [
          { kind: 'opened', what: '@c2', at: { branchId: 0, seq: 2 }, times: 3, first_at: 5n, last_at: 9n },
        ],
      });
    const [seen, unseen] = [three(), three()];
    const frame = look(seen);
    expect(frame).toMatchObject({ observed: true, seq: 4, branchId: 0, snapshot: null, started: null });
    // A look is no intervention.
    expect(frame.events.map(({ type }) => type)).toEqual(['ObservationRecorded']);
    expect(interventionIn(frame)).toBeNull();
    for (const session of [seen, unseen]) session.submit(block('after'), COMMIT);
    expect(seen.history.state.loadedBranches.get(0)?.tree.hashes(seen.history.payload)).toEqual(
      unseen.history.state.loadedBranches.get(0)?.tree.hashes(unseen.history.payload),
    );
    expect(seen.export()).toBe(unseen.export());
  },
);

const AT = { branchId: 0, seq: 0 };
const OBSERVED = { kind: 'opened', what: '@c1', at: AT, times: 1, first_at: 1n, last_at: 1n } as const;
const PROGRAM = {
  command: ['true'],
  directory: '/',
  commit: null,
  startedAt: 1,
  endedAt: 2,
  end: { exitCode: 0, signal: null },
};
const ALONE: readonly Step[] = [
  { op: 'observe', observations: [OBSERVED] },
  { op: 'fork', at: AT },
  { op: 'rollback', to: AT },
  { op: 'query', question: 'why?', answer: null, mind: 'ann' },
  { op: 'run', rounds: 1, total_rounds_after: 1 },
  { op: 'retell', type: 'rollback', retold: {} },
  { op: 'erase' },
  { op: 'link', parent: null },
  { op: 'release_call', attemptId: 'a', how: 'resumed', message: null },
  { op: 'request_run', rounds: 1 },
  { op: 'take_run', run: 'a', runner: 'r', round: 0 },
  { op: 'end_run', run: 'a', how: 'rounds', why: '', code: null, rounds: 1 },
  { op: 'record_run', run: 'a', variables: [], ...PROGRAM },
  {
    ...{
      op: 'record_effect',
      run: 'a',
      startedAt: 1,
      endedAt: 2,
      snapshot: 0,
      part: 0,
      parts: 1,
      since: null,
    },
    ...{ from: null, until: null, directory: '/', files: [], repositories: [], left: 0, contents: [] },
  },
  {
    ...{ op: 'record_provider_call', run: 'a', method: 'POST', model: null, usage: null, withheld: [] },
    sent: { at: 1, origin: null, path: '/v1/embeddings', contentType: null, coding: null },
    ...{ status: 'answered', httpStatus: 200, firstByteMs: 1, durationMs: 2, error: null },
    ...{ request: null, response: null, head: null },
  },
  { op: 'record_import', format: 'claude-code', summary: { calls: 1 } },
  { op: 'link_import', parent: { history: 'h', branchId: 0, attemptId: 'a' }, why: 'said' },
  {
    ...{ op: 'end_rerun', rerun: 'rerun-a', of: 'a', ...PROGRAM },
    exit: 0,
    counts: { same: 1, otherOrder: 0, bound: 0, differs: 0, extra: 0, missing: 0, live: 0, notKept: 0 },
    bindings: [],
    difference: null,
  },
];

test.each(ALONE.map((step) => [step.op, step] as const))(
  'the step %s is the only one of its command: beside a change of the branch, before or behind it, it is refused',
  { tags: ['pool:Observations'] },
  (op, step) => {
    const session = three();
    const { next } = session.history.state;
    for (const steps of [
      [step, block('beside')],
      [block('beside'), step],
    ])
      expect(() => intervene(session, 0, ...steps)).toThrow(`${op} must be the only step of its command`);
    expect(session.history.state.next).toBe(next);
  },
);

test.each(['system', 'developer', 'user', 'assistant', 'tool', 'function'])(
  'a message is injected in the role %s',
  { tags: ['pool:Interventions'] },
  (role) => {
    const session = started();
    const { events } = intervene(session, 0, { op: 'inject', text: 'x', role });
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'NodeInserted', node: expect.objectContaining({ role }) as unknown }),
    );
  },
);

test.each(['robot', 'User', ''])(
  'a message in the role %j, which no model takes, is refused',
  { tags: ['pool:Interventions'] },
  (role) => {
    const session = started();
    expect(codeOf(() => intervene(session, 0, { op: 'inject', text: 'x', role }))).toBe('E_ROLE_UNKNOWN');
  },
);
