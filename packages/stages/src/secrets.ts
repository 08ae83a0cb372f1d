import { PYTHON_SPACE } from './python-text.ts';

/** Patterns of texts that hold a secret. Every pattern is linear in the text. */
export type SecretPatterns = readonly RegExp[];

const S = `[${PYTHON_SPACE}]`;
const NOT_S = `[^${PYTHON_SPACE}]`;

/**
 * The texts that the engine redacts (compiler-stages, The node stream), exactly. {@link isSecretLike} checks for PEM.
 */
export const ENGINE_SECRETS: SecretPatterns = [
  /sk-[A-Za-z0-9]{20}/,
  new RegExp(`api[_-]?key${S}*[:=]${S}*${NOT_S}`, 'iu'),
  new RegExp(`authorization${S}*[:=]${S}*${NOT_S}`, 'iu'),
  new RegExp(`bearer${S}+[A-Za-z0-9._-]{12}`, 'iu'),
];

/** The start of a token: no character before it could belong to one. Keeps long runs of letters linear. */
const START = '(?<![A-Za-z0-9_-])';

const own = (pattern: string, flags = 'u'): RegExp => new RegExp(pattern, flags);

/**
 * What our own profile redacts besides, and what it is: the shapes that issuers of keys document, headers, settings with
 * telling names, credentials in addresses. A shape that English text could have must show a digit or a change of case.
 */
const NAMED_SECRETS: readonly (readonly [kind: string, pattern: RegExp])[] = [
  // OpenAI, Anthropic, OpenRouter, Stripe and others: sk-proj-…, sk-ant-…, sk_live_…
  ['API key', own(`${START}[srp]k[-_](?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{20}`)],
  // GitHub, GitLab
  ['GitHub or GitLab token', own(`${START}gh[opusr]_[A-Za-z0-9]{30}`)],
  ['GitHub or GitLab token', own(`${START}github_pat_[A-Za-z0-9_]{40}`)],
  ['GitHub or GitLab token', own(`${START}glpat-[A-Za-z0-9_-]{20}`)],
  // AWS: key ids, and secrets by their names
  ['AWS key', own('(?<![A-Za-z0-9])A(?:KIA|SIA|ROA|IDA|GPA|NPA|NVA)[A-Z0-9]{16}(?![A-Za-z0-9])')],
  [
    'AWS key',
    own(
      `aws[_ -]?(?:secret|session)[_ -]?(?:access[_ -]?)?(?:key|token)(?:[_ -]?id)?["']?${S}*[:=]${S}*["']?[A-Za-z0-9+/=]{16}`,
      'iu',
    ),
  ],
  // Google
  ['Google key', own(`${START}AIza[A-Za-z0-9_-]{30}`)],
  ['Google key', own(`${START}ya29\\.[A-Za-z0-9_-]{20}`)],
  ['Google key', own(`${START}GOCSPX-[A-Za-z0-9_-]{20}`)],
  // Slack
  ['Slack token', own(`${START}xox[a-z](?:\\.xox[a-z])?-[A-Za-z0-9-]{10}`)],
  ['Slack token', own(`${START}xapp-[0-9]-[A-Za-z0-9-]{10}`)],
  ['Slack token', own('hooks\\.slack\\.com/services/[A-Za-z0-9]')],
  // Hugging Face, npm, PyPI, SendGrid, DigitalOcean, Groq, Replicate, xAI, Azure
  [
    'token of another issuer',
    own(`${START}(?:hf_|npm_|pypi-|gsk_|r8_|xai-|dop_v1_)(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{28}`),
  ],
  ['token of another issuer', own(`${START}SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16}`)],
  ['token of another issuer', own(`${START}whsec_[A-Za-z0-9+/]{24}`)],
  ['token of another issuer', own('(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{20}', 'iu')],
  // JSON web tokens
  ['JSON web token', own(`${START}eyJ[A-Za-z0-9_-]{8,4096}\\.eyJ[A-Za-z0-9_-]{8}`)],
  // Headers
  ['authorization header', own(`bearer${S}+["']?[A-Za-z0-9._~+/=-]{12}`, 'iu')],
  [
    'authorization header',
    own(`(?<![A-Za-z0-9])basic${S}+(?=[A-Za-z+/]{0,200}(?:[0-9=]|(?<=[a-z])[A-Z]))[A-Za-z0-9+/]{6}`),
  ],
  [
    'authorization header',
    own(`(?<![A-Za-z0-9])Basic${S}+(?=[A-Za-z+/]{0,200}(?:[0-9=]|(?<=[a-z])[A-Z]))[A-Za-z0-9+/]{6}`),
  ],
  ['authorization header', own(`authorization["']?${S}*[:=]${S}*["']?${NOT_S}`, 'iu')],
  // Settings with telling names, also as JSON
  ['setting with a telling name', own(`api[_ -]?key["']?${S}*[:=]${S}*["']?[^${PYTHON_SPACE}"']`, 'iu')],
  [
    'setting with a telling name',
    own(
      `(?:(?:client|app|webhook|signing|consumer)[_ -]?secret|(?:access|refresh|auth|session|bot|secret)[_ -]?token|secret[_ -]?(?:access[_ -]?)?key|private[_ -]?key|pass(?:word|wd|phrase))["']?${S}*[:=]${S}*["']?[^${PYTHON_SPACE}"']{6}`,
      'iu',
    ),
  ],
  // A password in an address
  ['password in an address', own(`://[^${PYTHON_SPACE}/:@]{1,100}:[^${PYTHON_SPACE}/@]{3,200}@`)],
];

export const OWN_SECRETS: SecretPatterns = [
  ...ENGINE_SECRETS,
  ...NAMED_SECRETS.map(([, pattern]) => pattern),
];

/** True if a text seems to hold a secret: then {@link REDACTED} is shown instead of the whole text. */
export const isSecretLike = (patterns: SecretPatterns, text: string): boolean =>
  isPrivateKey(text) || patterns.some((pattern) => pattern.test(text));

const isPrivateKey = (text: string): boolean => /-----begin/iu.test(text) && /private key/iu.test(text);

/** What kind of secret a text seems to hold; null for none. */
export const secretKind = (text: string): string | null => {
  if (isPrivateKey(text)) return 'private key';
  const named = NAMED_SECRETS.find(([, pattern]) => pattern.test(text));
  return named?.[0] ?? (isSecretLike(ENGINE_SECRETS, text) ? 'API key' : null);
};
