import { describeRowStore } from './contract.ts';
import { openMemoryRowStore } from './memory-row-store.ts';

describeRowStore('in memory', () => ({ open: () => openMemoryRowStore(), cleanUp: () => undefined }));
