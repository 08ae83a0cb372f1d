import { deltaChannelHistoryTests, validate } from '@langchain/langgraph-checkpoint-validation';
import { randomUUID } from 'node:crypto';
import { StemmaSaver } from '../../src/index.ts';

/** What LangGraph's validation of savers tests: each saver has threads of its own, in the gateway at `STEMMA_URL`. */
const initializer = {
  checkpointerName: '@stemma/langgraph',
  createCheckpointer: (): StemmaSaver => new StemmaSaver({ prefix: `t${randomUUID().slice(0, 8)}-` }),
};

validate(initializer);
deltaChannelHistoryTests(initializer);
