import { PYTHON_SPACE } from './python-text.ts';

const own = (pattern: string, flags: string): RegExp => new RegExp(pattern, flags);

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
const ALONE = '(?<![A-Za-z0-9])';

/** A form of secrets: what stands before one, how it begins, and how far it goes. */
type SecretForm = {
  /** Names the form where a secret is taken out. */
  readonly kind: string;
  /** Stays where a secret is taken out: the name of a setting or a header. */
  readonly before: string;
  readonly begins: string;
  readonly whole: string;
  readonly flags: string;
};

const form = (kind: string, before: string, begins: string, whole: string, flags = 'u'): SecretForm => ({
  ...{ kind, before, begins, whole, flags },
});

/** To the end of the quotes, else of the word. A backslash before a quote belongs to the quote. */
const VALUE = `(?:(?<=["'])(?:[^"'\\\\\r\n]|\\\\+(?!["'\\\\]))*|(?:[^${PYTHON_SPACE}"'\\\\]|\\\\+(?!["'\\\\]))*)`;
const LINE = `(?:[^"'\\\\\r\n]|\\\\+(?!["'\\\\]))*`;
const BASIC = `(?=[A-Za-z+/]{0,200}(?:[0-9=]|(?<=[a-z])[A-Z]))[A-Za-z0-9+/]{6}`;

/**
 * What our own profile redacts besides, and what it is: the shapes that issuers of keys document, headers, settings with
 * telling names, credentials in addresses. A shape that English text could have must show a digit or a change of case.
 */
const OWN_FORMS: readonly SecretForm[] = [
  // OpenAI, Anthropic, OpenRouter, Stripe and others: sk-proj-…, sk-ant-…, sk_live_…
  form('api_key', START, '[srp]k[-_](?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{20}', '[A-Za-z0-9_-]+'),
  form('github_token', START, 'gh[opusr]_[A-Za-z0-9]{30}', '[A-Za-z0-9_]+'),
  form('github_token', START, 'github_pat_[A-Za-z0-9_]{40}', '[A-Za-z0-9_]+'),
  form('gitlab_token', START, 'glpat-[A-Za-z0-9_-]{20}', '[A-Za-z0-9_.-]+'),
  // AWS: key ids, and secrets by their names
  form('aws_key_id', ALONE, 'A(?:KIA|SIA|ROA|IDA|GPA|NPA|NVA)[A-Z0-9]{16}(?![A-Za-z0-9])', '[A-Z0-9]+'),
  form(
    'aws_secret',
    `aws[_ -]?(?:secret|session)[_ -]?(?:access[_ -]?)?(?:key|token)(?:[_ -]?id)?["']?${S}*[:=]${S}*["']?`,
    '[A-Za-z0-9+/=]{16}',
    '[A-Za-z0-9+/=]+',
    'iu',
  ),
  form('google_key', START, 'AIza[A-Za-z0-9_-]{30}', '[A-Za-z0-9_-]+'),
  form('google_token', START, 'ya29\\.[A-Za-z0-9_-]{20}', '[A-Za-z0-9_.-]+'),
  form('google_secret', START, 'GOCSPX-[A-Za-z0-9_-]{20}', '[A-Za-z0-9_-]+'),
  form('slack_token', START, 'xox[a-z](?:\\.xox[a-z])?-[A-Za-z0-9-]{10}', '[A-Za-z0-9.-]+'),
  form('slack_token', START, 'xapp-[0-9]-[A-Za-z0-9-]{10}', '[A-Za-z0-9-]+'),
  form('slack_hook', 'hooks\\.slack\\.com/services/', '[A-Za-z0-9]', '[A-Za-z0-9/_-]+'),
  // Hugging Face, npm, PyPI, DigitalOcean, Groq, Replicate, xAI
  form(
    'vendor_token',
    START,
    '(?:hf_|npm_|pypi-|gsk_|r8_|xai-|dop_v1_)(?=[A-Za-z_-]{0,200}[0-9])[A-Za-z0-9_-]{28}',
    '[A-Za-z0-9_-]+',
  ),
  form('sendgrid_key', START, 'SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16}', '[A-Za-z0-9_.-]+'),
  form('webhook_secret', START, 'whsec_[A-Za-z0-9+/]{24}', '[A-Za-z0-9+/=]+'),
  form('azure_key', '(?:AccountKey|SharedAccessKey)=', '[A-Za-z0-9+/]{20}', '[A-Za-z0-9+/=]+', 'iu'),
  // JSON web tokens
  form('jwt', START, 'eyJ[A-Za-z0-9_-]{8,4096}\\.eyJ[A-Za-z0-9_-]{8}', '[A-Za-z0-9_.-]+'),
  // Headers
  form('bearer', `bearer${S}+["']?`, '[A-Za-z0-9._~+/=-]{12}', '[A-Za-z0-9._~+/=-]+', 'iu'),
  form('basic', `${ALONE}basic${S}+`, BASIC, '[A-Za-z0-9+/=]+'),
  form('basic', `${ALONE}Basic${S}+`, BASIC, '[A-Za-z0-9+/=]+'),
  form('authorization', `authorization["']?${S}*[:=]${S}*["']?`, NOT_S, LINE, 'iu'),
  // Settings with telling names, also as JSON
  form('api_key', `api[_ -]?key["']?${S}*[:=]${S}*["']?`, `[^${PYTHON_SPACE}"']`, VALUE, 'iu'),
  form(
    'credential',
    `(?:(?:client|app|webhook|signing|consumer)[_ -]?secret|(?:access|refresh|auth|session|bot|secret)[_ -]?token|secret[_ -]?(?:access[_ -]?)?key|private[_ -]?key|pass(?:word|wd|phrase))["']?${S}*[:=]${S}*["']?`,
    `[^${PYTHON_SPACE}"']{6}`,
    VALUE,
    'iu',
  ),
  form(
    'url_password',
    `://[^${PYTHON_SPACE}/:@]{1,100}:`,
    `[^${PYTHON_SPACE}/@]{3,200}@`,
    `[^${PYTHON_SPACE}/@]+`,
  ),
];

const OWN_PATTERNS: SecretPatterns = OWN_FORMS.map(({ before, begins, flags }) =>
  own(before + begins, flags),
);

export const OWN_SECRETS: SecretPatterns = [...ENGINE_SECRETS, ...OWN_PATTERNS];

/** The kinds as people call them; the others are tokens of another issuer. */
const KIND_NAMES: { readonly [kind: string]: string } = {
  api_key: 'API key',
  github_token: 'GitHub or GitLab token',
  gitlab_token: 'GitHub or GitLab token',
  aws_key_id: 'AWS key',
  aws_secret: 'AWS key',
  google_key: 'Google key',
  google_token: 'Google key',
  google_secret: 'Google key',
  slack_token: 'Slack token',
  slack_hook: 'Slack token',
  jwt: 'JSON web token',
  bearer: 'authorization header',
  basic: 'authorization header',
  authorization: 'authorization header',
  credential: 'setting with a telling name',
  url_password: 'password in an address',
};

/** What people call a kind of secret. */
export const nameOfKind = (kind: string): string => KIND_NAMES[kind] ?? kind.replaceAll('_', ' ');

/** A form whose matches are whole secrets: group 1, behind what names it. */
export type SecretSpan = { readonly kind: string; readonly pattern: RegExp };

/** As {@link OWN_SECRETS}, to take secrets out of a text; also where a text holds JSON, whose quotes are escaped. */
export const SECRET_SPANS: readonly SecretSpan[] = [
  form('api_key', '', 'sk-[A-Za-z0-9]{20}', '[A-Za-z0-9_-]+'),
  ...OWN_FORMS,
].map(({ kind, before, begins, whole, flags }) => {
  const around = before.replaceAll(`["']?`, `\\\\*["']?`);
  return { kind, pattern: own(`${around}(?=${begins})(${whole})`, `${flags}dg`) };
});

/** Private keys as text: to their end, or to the end of the text. */
export const PRIVATE_KEY_SPAN: SecretSpan = {
  kind: 'private_key',
  pattern: /(-----begin[^-]{0,60}private key[\s\S]*?(?:-----end[^-\r\n\\]{0,60}-----|$))/dgiu,
};

/** True if a text seems to hold a secret: then {@link REDACTED} is shown instead of the whole text. */
export const isSecretLike = (patterns: SecretPatterns, text: string): boolean =>
  isPrivateKey(text) || patterns.some((pattern) => pattern.test(text));

const isPrivateKey = (text: string): boolean => /-----begin/iu.test(text) && /private key/iu.test(text);

/** What kind of secret a text seems to hold; null for none. */
export const secretKind = (text: string): string | null => {
  if (isPrivateKey(text)) return 'private key';
  const at = OWN_PATTERNS.findIndex((pattern) => pattern.test(text));
  if (at !== -1) return KIND_NAMES[OWN_FORMS[at]?.kind ?? ''] ?? 'token of another issuer';
  return isSecretLike(ENGINE_SECRETS, text) ? 'API key' : null;
};
