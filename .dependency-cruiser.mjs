export { importRules as default } from './scripts/import-rules.ts';
