export { ENDPOINT_FAULTS, ERRORS, type ErrorCode, type ErrorRow } from './table.ts';
export {
  StemmaError,
  errorToHttpJson,
  errorToJson,
  fail,
  isStemmaError,
  redactedError,
  type ErrorDetail,
} from './stemma-error.ts';
export { fromWireError, toWireError, type WireError } from './wire-error.ts';
export { shownAddress, withoutCredentials } from './credentials.ts';
export { attempt } from './attempt.ts';
export { issueText } from './issue-text.ts';
export { backOff, type BackOff } from './back-off.ts';
export { VERSION } from './version.ts';
export { echo, MAX_ECHO } from './echo.ts';
export { isName, NAME_CHARACTER, nameOfText, nameOfWords } from './names.ts';
export { HIDDEN_CHARACTERS, visibleText } from './visible-text.ts';
export { reasonOf } from './reason-of.ts';
