import { describe, expect, it } from 'vitest';
import { compareRuns, embedText, poolRun, seededRandom, takenUp, type RecordedRun } from '../src/index.ts';

type Planted = { readonly decisions?: boolean; readonly wording?: boolean };

/** Runs of an agent that calls one of three tools in each step, and says so. */
const runs = (
  count: number,
  steps: number,
  { decisions = false, wording = false }: Planted,
  seed: number,
): RecordedRun[] => {
  const { below, unit } = seededRandom(seed);
  return Array.from({ length: count }, (_, run) => ({
    name: `run ${run}`,
    steps: Array.from({ length: steps }, () => {
      const tool = ['search', 'refund', 'ask'][unit() < (decisions ? 0.2 : 0.6) ? 0 : 1 + below(2)] ?? '';
      const said = `I ${tool} for case ${below(9)} now${wording ? ', as you kindly wished' : ''}.`;
      return { choices: { action: [tool] }, texts: [{ about: tool, text: said }] };
    }),
  }));
};

describe('a verdict', () => {
  it(
    'says that decisions differ where other things are chosen and told alike',
    { tags: ['pool§7.21'] },
    () => {
      const found = compareRuns(runs(8, 20, {}, 1), runs(8, 20, { decisions: true }, 2));
      expect(found).toMatchObject({ verdict: 'decisions differ', units: 'runs', isJudged: true });
      expect(found.decisions.differences[0]?.effect).toBeGreaterThan(0.25);
      expect(found.decisions.differences[0]?.interval?.low).toBeGreaterThan(0.1);
    },
  );

  it(
    'says that only the telling differs where the same is chosen and told in other words',
    { tags: ['pool§7.21'] },
    () => {
      const found = compareRuns(runs(8, 20, {}, 1), runs(8, 20, { wording: true }, 2));
      expect(found).toMatchObject({ verdict: 'only the telling differs' });
      expect(found.decisions).toMatchObject({ isDifferent: false, size: 0.25 });
      expect(found.decisions.power).toBeGreaterThan(0.8);
    },
  );

  it('says both, and neither', { tags: ['pool§7.21'] }, () => {
    expect(compareRuns(runs(8, 20, {}, 1), runs(8, 20, { decisions: true, wording: true }, 2)).verdict).toBe(
      'both',
    );
    expect(compareRuns(runs(12, 40, {}, 1), runs(12, 40, {}, 2)).verdict).toBe('neither');
  });

  it(
    'cannot tell by one run of each, however much they differ, and says how many are needed',
    { tags: ['pool§7.21'] },
    () => {
      const found = compareRuns(runs(1, 60, {}, 1), runs(1, 60, { decisions: true, wording: true }, 2));
      expect(found).toMatchObject({ verdict: 'cannot tell', units: 'steps', isJudged: false });
      expect(found.decisions.needed).toBe(4);
      expect(found.decisions.p).toBeLessThan(0.025);
    },
  );

  it('takes steps for independent of each other if it is told so', () => {
    const [a, b] = [runs(1, 60, {}, 1), runs(1, 60, { decisions: true }, 2)];
    expect(compareRuns(a, b, { unit: 'steps' })).toMatchObject({
      verdict: 'decisions differ',
      units: 'steps',
    });
  });

  it('cannot tell by few short runs, and says how many would do', { tags: ['pool§7.21'] }, () => {
    const found = compareRuns(runs(4, 3, {}, 1), runs(4, 3, {}, 5));
    expect(found).toMatchObject({ verdict: 'cannot tell', isJudged: true });
    expect(found.decisions.power).toBeLessThan(0.8);
    expect(found.decisions.needed).toBeGreaterThan(4);
  });

  it('is the same to the bit with the same seed, and has no bias for an arm', () => {
    const [a, b] = [runs(5, 12, {}, 3), runs(5, 12, { decisions: true }, 4)];
    expect(compareRuns(a, b, { seed: 7 })).toEqual(compareRuns(a, b, { seed: 7 }));
    const [ab, ba] = [compareRuns(a, b), compareRuns(b, a)];
    expect(ba.decisions.differences[0]?.effect).toBeCloseTo(ab.decisions.differences[0]?.effect ?? 0, 1);
  });

  it('refuses an arm that did nothing, and options that cannot be', () => {
    const [a, b] = [runs(4, 3, {}, 1), runs(4, 3, {}, 2)];
    expect(() => compareRuns([], b)).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
    expect(() => compareRuns(a, [{ name: 'empty', steps: [] }])).toThrow(
      expect.objectContaining({ code: 'E_USAGE' }),
    );
    expect(() => compareRuns(a, b, { permutations: 0 })).toThrow(
      expect.objectContaining({ code: 'E_USAGE' }),
    );
    expect(() => compareRuns(a, b, { alpha: 1 })).toThrow(expect.objectContaining({ code: 'E_USAGE' }));
  });
});

describe('what a message takes up', () => {
  const shown = ['the sea keeps stones', 'a door is open', 'we count names'].map(embedText);

  it('is what it is nearest to, whatever manner of speaking is added', () => {
    expect(takenUp(embedText('the door is still open'), shown)).toBe(1);
    expect(takenUp(embedText('indeed dear friends the door is still open indeed'), shown)).toBe(1);
    const polite = shown.map((_, i) =>
      embedText(
        `indeed dear friends ${['the sea keeps stones', 'a door is open', 'we count names'][i] ?? ''}`,
      ),
    );
    expect(takenUp(embedText('indeed dear friends the door is still open'), polite)).toBe(1);
    expect(takenUp(embedText('xyzzy'), shown)).toBeNull();
    expect(takenUp(embedText('a door'), [])).toBeNull();
  });

  it('is followed back to what was there when the runs parted', () => {
    const known = new Map(
      ['sea', 'door', 'names'].map((key, i) => [
        key,
        { key, vector: shown[i] ?? new Float32Array(), cluster: null },
      ]),
    );
    const say = (id: string, text: string) => ({ id, text, vector: embedText(text) });
    const { steps } = poolRun(
      'main',
      [
        { sampled: ['sea', 'door'], added: [say('m1', 'the door was open')], stop: 'stop' },
        { sampled: ['m1', 'names'], added: [say('m2', 'open was the old door')], stop: 'stop' },
        { sampled: ['sea', 'names'], added: [], stop: 'length' },
      ],
      known,
    );
    expect(steps.map(({ choices }) => choices)).toEqual([
      {
        'message taken up': ['door'],
        'attractor taken up': ['no attractor'],
        'messages added': ['1'],
        'stop reason': ['stop'],
      },
      {
        'message taken up': ['door'],
        'attractor taken up': ['no attractor'],
        'messages added': ['1'],
        'stop reason': ['stop'],
      },
      {
        'message taken up': [],
        'attractor taken up': [],
        'messages added': ['0'],
        'stop reason': ['length'],
      },
    ]);
  });
});
