const mixed = (length: number): string => 'aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0z'.repeat(9).slice(0, length);
const upper = (length: number): string => mixed(300).toUpperCase().slice(0, length);

/** A text that holds a secret, and the secret itself. */
export type FakeSecret = readonly [name: string, text: string, secret: string];

/** Fakes of our own making in the shapes that issuers document, cut up so that nobody takes this file for a leak. */
export const FAKE_SECRETS: readonly FakeSecret[] = [
  ['OpenAI', 's' + 'k-' + mixed(48), 's' + 'k-' + mixed(48)],
  [
    'OpenAI project',
    's' + 'k-proj-' + mixed(40) + '_' + mixed(40),
    's' + 'k-proj-' + mixed(40) + '_' + mixed(40),
  ],
  ['OpenAI service account', 's' + 'k-svcacct-' + mixed(60), 's' + 'k-svcacct-' + mixed(60)],
  ['Anthropic', 's' + 'k-ant-api03-' + mixed(80) + '-AA', 's' + 'k-ant-api03-' + mixed(80) + '-AA'],
  [
    'OpenRouter',
    's' + 'k-or-v1-' + '0123456789abcdef'.repeat(4),
    's' + 'k-or-v1-' + '0123456789abcdef'.repeat(4),
  ],
  ['Stripe', 's' + 'k_live_' + mixed(24), 's' + 'k_live_' + mixed(24)],
  ['GitHub classic', 'gh' + 'p_' + mixed(36), 'gh' + 'p_' + mixed(36)],
  ['GitHub app', 'gh' + 's_' + mixed(36), 'gh' + 's_' + mixed(36)],
  [
    'GitHub fine-grained',
    'github' + '_pat_' + mixed(22) + '_' + mixed(59),
    'github' + '_pat_' + mixed(22) + '_' + mixed(59),
  ],
  ['GitLab', 'gl' + 'pat-' + mixed(20), 'gl' + 'pat-' + mixed(20)],
  ['AWS key id', 'AK' + 'IA' + upper(16), 'AK' + 'IA' + upper(16)],
  ['AWS temporary key id', 'AS' + 'IA' + upper(16), 'AS' + 'IA' + upper(16)],
  ['AWS secret', 'aws_secret' + '_access_key = ' + mixed(40), mixed(40)],
  ['Google', 'AI' + 'za' + mixed(35), 'AI' + 'za' + mixed(35)],
  ['Google OAuth', 'ya' + '29.' + mixed(60), 'ya' + '29.' + mixed(60)],
  [
    'Slack bot',
    'xo' + 'xb-1234567890-1234567890-' + mixed(24),
    'xo' + 'xb-1234567890-1234567890-' + mixed(24),
  ],
  ['Slack user', 'xo' + 'xp-1234567890-' + mixed(24), 'xo' + 'xp-1234567890-' + mixed(24)],
  ['Slack hook', 'https://hooks.slack' + '.com/services/T000/B000/' + mixed(24), 'T000/B000/' + mixed(24)],
  ['Hugging Face', 'h' + 'f_' + mixed(34), 'h' + 'f_' + mixed(34)],
  ['npm', 'np' + 'm_' + mixed(36), 'np' + 'm_' + mixed(36)],
  ['SendGrid', 'S' + 'G.' + mixed(22) + '.' + mixed(43), 'S' + 'G.' + mixed(22) + '.' + mixed(43)],
  [
    'JWT',
    'ey' + 'J' + mixed(30) + '.ey' + 'J' + mixed(60) + '.' + mixed(43),
    'ey' + 'J' + mixed(30) + '.ey' + 'J' + mixed(60) + '.' + mixed(43),
  ],
  ['bearer', 'Bear' + 'er ' + mixed(30), mixed(30)],
  ['bearer in base64', 'bear' + 'er abc/def+ghi/jkl==', 'abc/def+ghi/jkl=='],
  ['basic', 'Bas' + 'ic Zm9vOmJhcg==', 'Zm9vOmJhcg=='],
  ['basic without digits', 'Bas' + 'ic dXNlcjpwYXNz', 'dXNlcjpwYXNz'],
  ['basic header', 'Authorization: Bas' + 'ic Zm9vOmJhcg==', 'Zm9vOmJhcg=='],
  ['authorization as JSON', '{"author' + 'ization": "Token abc"}', 'Token abc'],
  ['api key', 'api' + '_key: hunter2', 'hunter2'],
  ['API-KEY', 'API' + '-KEY=hunter2', 'hunter2'],
  ['api key as JSON', '"api' + '_key" : "hunter2"', 'hunter2'],
  ['password', 'pass' + 'word=correct-horse', 'correct-horse'],
  ['client secret', 'client' + '_secret: ' + mixed(20), mixed(20)],
  ['access token as JSON', '"access' + '_token":"' + mixed(20) + '"', mixed(20)],
  ['password in an address', 'postgres' + '://app:' + 'hunter22@db.example/x', 'hunter22'],
  ['PEM', '-----BEGIN RSA ' + 'PRIVATE KEY-----\nMIIE' + mixed(60) + '\n-----END', 'MIIE' + mixed(60)],
  ['OpenSSH', '-----BEGIN OPENSSH ' + 'PRIVATE KEY-----\n' + mixed(60), mixed(60)],
];
