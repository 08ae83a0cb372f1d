/** Every warning of an import, and what it means. */
export const WARNINGS = {
  W_LINE_CUT: 'the last line is cut off, and left out',
  W_LINE_DAMAGED: 'a line is no JSON, and left out',
  W_PARENT_MISSING: 'a message follows one that is not in the file: it stands behind the message before it',
  W_EMPTY: 'a conversation has no messages',
  W_CALL_WITHOUT_RESULT: 'a call of a tool has no result',
  W_RESULT_WITHOUT_ID: 'a result does not say which call it answers',
  W_RESULT_WITHOUT_CALL: 'a result answers a call that is not in the file',
  W_ID_CHANGED: 'an id cannot be one of a node, or is taken: the node has another one',
  W_CLOCK_BACK: 'a time is earlier than the one before',
  W_REPEATED: 'something stands twice in the file, and is recorded once',
  W_VALUE_UNREAD:
    'a value has a form that its format does not have: it is kept as text, or left out and counted',
  W_USAGE_DOUBTFUL: 'token counts contradict each other',
  W_CONTENT_LOST:
    'the program that wrote the file left something out (a cut text, an image without its bytes)',
} as const;
export type WarningCode = keyof typeof WARNINGS;
