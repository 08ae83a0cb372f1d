export { type RedactionConfig, SECRET_KINDS } from './config.ts';
export {
  openRedactor,
  type RedactedNodes,
  type RedactFunction,
  type Redactor,
  type RedactorOptions,
  secretsInBody,
  secretsInText,
} from './redactor.ts';
