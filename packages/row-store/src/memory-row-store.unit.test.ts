import { describeRowStore } from './contract.ts';
import { openMemoryRowStore, type Memory } from './memory-row-store.ts';
import { damageMemory } from './contract/damage-memory.ts';

describeRowStore('in memory', () => {
  const memory: Memory = { generations: new Map(), pointers: new Map() };
  return {
    open: () => openMemoryRowStore(memory),
    another: () => openMemoryRowStore(memory),
    damage: (damage) => damageMemory(memory, damage),
    cleanUp: () => undefined,
  };
});
