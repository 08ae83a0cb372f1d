import { canonicalJson, type WideJson } from '@stemma/canonical';
import { flattenRecords, providerThread } from '@stemma/context-tree';
import { CAUSES, payloadIn, type Cause, type Step } from '@stemma/history';
import { branchRefOf } from '@stemma/history-store';
import { buildCacheReport } from '@stemma/queries';
import { tokenCounter } from '@stemma/read-models';
import { anyOperations, framesOf, HISTORY, play, START, type Played, sized } from '@stemma/test-kit';
import { open, say, send, start, temporaryHome } from '@stemma/test-kit/home';
import fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(10, 30));

/** The messages of every snapshot on an ancestor path, by copies of the trees. */
const threadsOf = (played: Played, branchId: number): WideJson[][] =>
  framesOf(played, branchId, played.history.state.next - 1)
    .filter(({ body }) => body.events.some(({ type }) => type === 'SnapshotCommitted'))
    .map(({ envelope, body }) => {
      const copy = played.history.copyAt(body.branchId, envelope.seq);
      return providerThread(
        flattenRecords(copy),
        ({ seq, index }) => payloadIn(played.history.frames[seq]!.body.events[index]!),
        copy.thread,
      );
    });

/** The frames of the snapshots on an ancestor path. */
const commitsOf = (played: Played, branchId: number): number[] =>
  framesOf(played, branchId, played.history.state.next - 1)
    .filter(({ body }) => body.events.some(({ type }) => type === 'SnapshotCommitted'))
    .map(({ envelope }) => envelope.seq);

/** The events that a cause is recorded as. */
const eventsOf = ({ kind }: Cause): readonly string[] =>
  kind === 'mutation'
    ? ['NodeInserted', 'NodeReplaced', 'NodeMoved', 'NodeRemoved']
    : CAUSES.filter((row) => row.kind === kind).map(({ event }) => event);

const text = (messages: readonly WideJson[]): string => messages.map((one) => canonicalJson(one)).join('');

const isBeginning = (a: readonly WideJson[], b: readonly WideJson[]): boolean =>
  a.length <= b.length && text(a) === text(b.slice(0, a.length));

test(
  'cache reports the verdicts, sizes and common prefixes that a byte-by-byte comparison of the threads gives, and a cause for every break',
  { tags: ['context-tree§4:provider-thread', 'context-tree§3:one-cause'] },
  async () => {
    await fc.assert(
      fc.asyncProperty(anyOperations(1, 60), fc.constantFrom('full', 'pre'), async (actions, thread) => {
        const played = play(actions, { ...START, thread } as Step);
        for (const branchId of played.history.branches.keys()) {
          const threads = threadsOf(played, branchId);
          const snapshots = commitsOf(played, branchId);
          const report = await buildCacheReport(played.projector, branchRefOf(HISTORY, branchId), new Map());
          expect(report.calls).toBe(threads.length);
          expect(report.bytes.sent).toBe(threads.reduce((sum, thread) => sum + text(thread).length, 0));
          report.steps.forEach(({ verdict, bytes, messages, tokens, broken }, i) => {
            const [a, b] = [threads[i]!, threads[i + 1]!];
            let same = 0;
            while (same < a.length && same < b.length && text([a[same]!]) === text([b[same]!])) same++;
            expect(verdict).toBe(isBeginning(a, b) ? 'append' : isBeginning(b, a) ? 'rewind' : 'break');
            expect(messages).toEqual({ before: a.length, after: b.length, shared: same });
            const [x, y] = [text(a), text(b)];
            let common = 0;
            while (common < x.length && x[common] === y[common]) common++;
            expect(bytes).toEqual({ before: x.length, after: y.length, shared: common });
            const contents = b.map((one) => (one as { content: WideJson }).content);
            expect(tokens.after).toBe(
              contents.reduce<number>(
                (sum, one) => sum + countTokens(typeof one === 'string' ? one : canonicalJson(one)),
                0,
              ),
            );
            expect(broken === null).toBe(verdict === 'append');
            if (broken === null) return;
            expect([broken.node, broken.cause === null]).toEqual([broken.node, false]);
            // The cause lies between the two calls, and tells of what is recorded there.
            const [from, to] = [snapshots[i]!, snapshots[i + 1]!];
            expect(broken.origin!.seq).toBeGreaterThan(from);
            expect(broken.origin!.seq).toBeLessThanOrEqual(to);
            expect(eventsOf(broken.cause!)).toContain(broken.origin!.event);
            if (broken.entered !== null)
              expect(['NodeInserted', 'NodeImported']).toContain(broken.entered.event);
          });
        }
      }),
      { numRuns: RUNS },
    );
  },
);

test(
  'cache names the first message that differs and the cause of the break: expiry, replacement or an insertion in front',
  { tags: ['context-tree§3:one-cause'] },
  async () => {
    using at = temporaryHome();
    const home = await open(at.directory);
    await start(home, 'a');
    await send(home, 'a', 'one', [
      { op: 'insert', parent: '^sys', node: { id: 'rules', nodeType: 'cb', content: 'Be brief.' } },
      {
        op: 'insert',
        parent: '^ah',
        node: { id: 'note', nodeType: 'cb', offset: -1, ttl: 1, content: 'A note.' },
      },
      { op: 'insert', parent: '^ah', node: { id: 'ask', nodeType: 'cb', content: 'A question.' } },
      { op: 'commit' },
    ]);
    await say(home, 'a', 'goes on');
    await say(home, 'a', 'the note has gone');
    await send(home, 'a', 'four', [
      { op: 'replace', id: 'rules', set: { content: 'Be brief and kind.' } },
      { op: 'commit' },
    ]);
    await home.submit({
      id: 'five',
      history: (await home.find('a')).history,
      branchId: 0,
      by: { actor: 'reviewer' },
      steps: [
        { op: 'insert', parent: '^sys', node: { id: 'first', nodeType: 'cb', offset: -1, content: 'Stop.' } },
        { op: 'commit' },
      ],
    });
    const { steps, verdicts, worst, tokenizer } = await home.queries.questions.cache(await home.find('a'));
    expect(tokenizer).toBe('o200k_base');
    expect(verdicts).toEqual({ append: 1, rewind: 0, break: 3 });
    expect(
      steps.map(({ to, verdict, messages, broken }) => [
        to,
        verdict,
        messages.shared,
        broken?.node,
        broken?.what,
        broken?.cause,
        broken?.origin?.event,
        broken?.origin?.author,
        broken?.entered?.command,
      ]),
    ).toEqual([
      ['@c2', 'append', 3, undefined, undefined, undefined, undefined, undefined, undefined],
      ['@c3', 'break', 1, 'note', 'removed', { kind: 'expiry' }, 'NodeExpired', { recorder: 'test' }, 'one'],
      [
        '@c4',
        'break',
        0,
        'rules',
        'changed',
        { kind: 'mutation', op: 'replace', by: null },
        'NodeReplaced',
        { recorder: 'test' },
        'one',
      ],
      [
        '@c5',
        'break',
        0,
        'first',
        'added',
        { kind: 'mutation', op: 'insert', by: null },
        'NodeInserted',
        { actor: 'reviewer' },
        undefined,
      ],
    ]);
    // "Be brief" stood at the beginning before and after.
    expect(steps[2]!.tokens.shared).toBe(2);
    expect(worst).toHaveLength(3);
    await home.close();
  },
);

test(
  'cache and bisect include what was just written, also in a fork and after a rollback',
  { tags: ['context-tree§5:fork', 'context-tree§5:rollback'] },
  async () => {
    using at = temporaryHome();
    const home = await open(at.directory);
    await start(home, 'a');
    const branchRef = await home.find('a');
    for (let calls = 1; calls <= 3; calls++) {
      await say(home, 'a', `word ${calls}`);
      expect((await home.queries.questions.cache(branchRef)).calls).toBe(calls);
    }
    const branch = (step: Step) =>
      home.submit({
        id: step.op,
        history: branchRef.history,
        branchId: 0,
        by: { recorder: 'test' },
        steps: [step],
      });
    const { seq } = await home.position(branchRef, '@c1');
    const at1 = { branchId: 0, seq };
    const fork = await branch({ op: 'fork', at: at1, name: 'other' });
    const other = branchRefOf(fork.history, fork.branchId);
    expect(await home.queries.questions.cache(other)).toMatchObject({ calls: 1, steps: [] });
    await home.submit({
      id: 'in the fork',
      history: fork.history,
      branchId: fork.branchId,
      by: { recorder: 'test' },
      steps: [
        { op: 'insert', parent: '^sys', node: { id: 'new', nodeType: 'cb', content: 'In front.' } },
        { op: 'commit' },
      ],
    });
    expect((await home.queries.questions.cache(other)).steps).toMatchObject([
      { from: '@c1', to: '@c2', verdict: 'break', broken: { node: 'new', what: 'added' } },
    ]);
    const asked = { good: '@c1', bad: '@c2', when: '#new' };
    expect(await home.queries.questions.bisect(other, asked)).toMatchObject({
      first: { label: '@c2' },
      matched: ['new'],
    });
    await branch({ op: 'rollback', to: at1 });
    expect((await home.queries.questions.cache(await home.find('a'))).calls).toBe(1);
    await home.close();
  },
);

test('token counts equal those of the tokenizer for texts of every kind, and special tokens and very long runs are counted in bounded time', async () => {
  const counter = await tokenCounter();
  const plain = 'The quick brown fox, and 漢字 and ünïcode.\n\n  Indented {"json": [1, 2]} '.repeat(2_000);
  expect(counter.count(plain)).toBe(countTokens(plain));
  expect(counter.count('<|endoftext|>')).toBeGreaterThan(1);
  for (const run of ['a', ' ', '\n', '😀']) {
    const began = performance.now();
    expect(counter.count(run.repeat(100_000))).toBeGreaterThan(100);
    expect(performance.now() - began).toBeLessThan(30_000);
  }
});
