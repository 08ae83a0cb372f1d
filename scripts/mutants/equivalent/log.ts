import type { EquivalentMutant } from './equivalent-mutant.ts';

export const LOG: readonly EquivalentMutant[] = [
  {
    file: 'packages/storage/log/src/check-records.ts',
    original: 'history !== null && verdict.head',
    replacement: '(history !== null) || (verdict.head)',
    reason: 'damage without a history has no head, and damage with one has one',
  },
  {
    file: 'packages/storage/log/src/control.ts',
    original: '1024',
    replacement: '1023',
    reason: 'how many bytes are asked for at once: the same records come in other batches',
  },
  {
    file: 'packages/storage/log/src/envelope.ts',
    original: 'end > bytes.length',
    replacement: 'end >= bytes.length',
    reason: 'a frame that ends with the id of its history has no `prev`, and is no envelope either way',
  },
  {
    file: 'packages/storage/log/src/envelope.ts',
    original: 'head === undefined',
    replacement: 'false',
    reason: 'a byte that is not there is not below 0x80, and has no width',
  },
  {
    file: 'packages/storage/log/src/memory-log.ts',
    original: 'waiting.delete(done);',
    replacement: '',
    reason: 'a wait that is over is woken again and resolves once more, which changes nothing: only memory',
  },
  {
    file: 'packages/storage/log/src/shaped-event.ts',
    original: 'fits',
    replacement: 'false',
    reason: 'the schema returns the same event: only work',
  },
];
