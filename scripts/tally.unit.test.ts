import { describe, expect, it } from 'vitest';
import { type FileOutcome, tally } from './tally.ts';

const file = (part: Partial<FileOutcome>): FileOutcome => ({
  file: 'a.test.ts',
  broken: false,
  tests: [],
  ...part,
});

describe('tally', () => {
  it('counts tests by their outcome, and lists the reasons of skipped tests and the tests that passed at the second try', () => {
    const tests = [
      { name: 'adds', state: 'passed' },
      { name: 'subtracts', state: 'failed' },
      { name: 'shows', state: 'skipped', note: 'no Chromium on this machine' },
      { name: 'waits', state: 'skipped' },
      { name: 'meets chance', state: 'passed', atFirst: 'it came too late' },
    ] as const;

    expect(tally([file({ tests, broken: true })], 0)).toEqual({
      passed: 2,
      failed: 1,
      secondTry: ['a.test.ts > meets chance: it came too late'],
      skipped: ['a.test.ts > shows: no Chromium on this machine', 'a.test.ts > waits: no reason given'],
    });
  });

  it('counts a file that could not be loaded as a failure', () => {
    expect(tally([file({ broken: true })], 0)).toEqual({
      passed: 0,
      failed: 1,
      skipped: [],
      secondTry: [],
    });
  });

  it('counts a test that never ended as a failure', () => {
    expect(tally([file({ tests: [{ name: 'hangs', state: 'pending' }] })], 0).failed).toBe(1);
  });

  it('counts errors outside of tests as failures', () => {
    expect(tally([file({ tests: [{ name: 'adds', state: 'passed' }] })], 2)).toEqual({
      passed: 1,
      failed: 2,
      skipped: [],
      secondTry: [],
    });
  });
});
