import { flattenRecords, threadBytes } from '@stemma/context-tree';
import { payloadIn, type Step } from '@stemma/history';
import { blameThread, parseByteRange } from '@stemma/queries';
import { anyOperations, framesOf, play, START, type Played, sized } from '@stemma/test-kit';
import { open, send, start, temporaryHome } from '@stemma/test-kit/home';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const RUNS = Number(process.env['STEMMA_RUNS'] ?? sized(10, 30));

/** For every id the event that brought it and the one that last set its content, by walking all events. */
const walked = (played: Played, branchId: number, seq: number): Map<string, [string, string]> => {
  const made = new Map<string, [string, string]>();
  for (const { envelope, body } of framesOf(played, branchId, seq))
    body.events.forEach((event, index) => {
      const place = `${envelope.seq}.${index}`;
      if (event.type === 'NodeInserted' || event.type === 'NodeImported')
        made.set(event.node.id, [place, place]);
      if (event.type === 'NodeReplaced' && event.fields.includes('content'))
        made.set(event.id, [made.get(event.id)?.[0] ?? '', place]);
    });
  return made;
};

test(
  'at every position the parts of blame cover the bytes of the thread without gap or overlap, and each names the event that made it',
  { tags: ['context-tree§4:provider-thread'] },
  async () => {
    await fc.assert(
      fc.asyncProperty(anyOperations(1, 40), fc.nat(1_000), fc.nat(1_000), async (actions, a, b) => {
        const played = play(actions, { ...START, thread: b % 4 === 0 ? 'pre' : 'full' } as Step);
        const { history } = played;
        const branchIds = [...history.branches.keys()];
        const branchId = branchIds[a % branchIds.length] ?? 0;
        const seq = Math.max(branchId, b % history.state.next);
        const copy = history.copyAt(branchId, seq);
        const bytes = threadBytes(
          flattenRecords(copy),
          (ref) => payloadIn(history.frames[ref.seq]!.body.events[ref.index]!),
          copy.thread,
        );
        const blame = await blameThread(played.projector, played.positionAt(branchId, seq));

        expect(blame.parts.map(({ text }) => text).join('')).toBe(bytes);
        let at = 0;
        for (const { from, to, text } of blame.parts) {
          expect(from).toBe(at);
          expect(to).toBe(from + text.length);
          expect(text).toBe(bytes.slice(from, to));
          at = to;
        }
        expect([at, blame.bytes]).toEqual([bytes.length, bytes.length]);
        const made = walked(played, branchId, seq);
        for (const { part, node, origin } of blame.parts) {
          expect(origin === null).toBe(node === null);
          if (node === null || origin === null || part === 'role') continue;
          const { seq: frame, index } = blame.origins[origin]!;
          expect(`${frame}.${index}`).toBe(made.get(node)?.[part === 'content' ? 1 : 0]);
        }

        const from = a % bytes.length;
        const some = await blameThread(played.projector, played.positionAt(branchId, seq), {
          from,
          to: from + 1 + b,
        });
        expect(some.parts.map(({ text }) => text).join('')).toBe(bytes.slice(from, from + 1 + b));
      }),
      { numRuns: RUNS },
    );
  },
);

test(
  'blame gives for a content the event that last set it, and for a default role the event that placed the block',
  { tags: ['context-tree§4:provider-thread'] },
  async () => {
    using at = temporaryHome();
    const home = await open(at.directory);
    await start(home, 'a');
    await send(home, 'a', 'one', [
      { op: 'insert', parent: '^sys', node: { id: 'n', nodeType: 'cb', content: 'first', kind: 'text' } },
    ]);
    await send(home, 'a', 'two', [{ op: 'replace', id: 'n', set: { content: 'second' } }]);
    await send(home, 'a', 'three', [{ op: 'replace', id: 'n', set: { data_note: 'no content' } }]);
    await home.submit({
      id: 'four',
      history: (await home.find('a')).history,
      branchId: 0,
      by: { actor: 'reviewer' },
      steps: [{ op: 'move', id: 'n', parent: '^ah' }],
    });
    const { parts, origins } = await home.queries.questions.blame(await home.position(await home.find('a')));
    const made = parts
      .filter(({ part }) => part !== 'syntax')
      .map(({ part, text, origin }) => {
        const { seq, index, event, command, author, cycle } = origins[origin ?? -1] ?? {};
        return [part, text, event, `${seq}.${index}`, command, author, cycle];
      });
    const test = { recorder: 'test' };
    expect(made).toEqual([
      ['array', '[', undefined, 'undefined.undefined', undefined, undefined, undefined],
      ['content', '"second"', 'NodeReplaced', '2.0', 'two', test, 1],
      ['id', '"n"', 'NodeInserted', '1.0', 'one', test, 1],
      ['kind', '"text"', 'NodeInserted', '1.0', 'one', test, 1],
      ['role', '"user"', 'NodeMoved', '4.1', 'four', { actor: 'reviewer' }, 1],
      ['array', ']', undefined, 'undefined.undefined', undefined, undefined, undefined],
    ]);
    await home.close();
  },
);

test('blame refuses an invalid range of bytes', () => {
  expect([parseByteRange('3-9'), parseByteRange('3-')]).toEqual([
    { from: 3, to: 9 },
    { from: 3, to: Number.MAX_SAFE_INTEGER },
  ]);
  for (const text of ['', '-', '-3', 'a-b', '1-2-3', '9'.repeat(40)])
    expect(() => parseByteRange(text)).toThrow(expect.objectContaining({ code: 'E_USAGE' }) as Error);
});
