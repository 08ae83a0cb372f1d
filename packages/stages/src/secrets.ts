import { PYTHON_SPACE } from './python-text.ts';

/** What tells that a text holds a secret. Every pattern is linear in the text. */
export type SecretPatterns = readonly RegExp[];

const S = `[${PYTHON_SPACE}]`;
const NOT_S = `[^${PYTHON_SPACE}]`;

/** What the engine means to redact (compiler-stages, The node stream): exactly this. PEM is {@link isSecretLike}'s. */
export const ENGINE_SECRETS: SecretPatterns = [
  /sk-[A-Za-z0-9]{20}/,
  new RegExp(`api[_-]?key${S}*[:=]${S}*${NOT_S}`, 'iu'),
  new RegExp(`authorization${S}*[:=]${S}*${NOT_S}`, 'iu'),
  new RegExp(`bearer${S}+[A-Za-z0-9._-]{12}`, 'iu'),
];

export const OWN_SECRETS: SecretPatterns = [...ENGINE_SECRETS];

/** True if a text holds what looks like a secret: it is then shown as {@link REDACTED} as a whole. */
export const isSecretLike = (patterns: SecretPatterns, text: string): boolean =>
  isPrivateKey(text) || patterns.some((pattern) => pattern.test(text));

const isPrivateKey = (text: string): boolean => /-----begin/iu.test(text) && /private key/iu.test(text);
