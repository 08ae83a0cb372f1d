/** A provider of models, and what its clients know of it. */
type ProviderFacts = {
  /** The address of its API, as its clients have it; null: each account has its own. */
  readonly address: string | null;
  /** The names of its hosts; `*` stands for one part of a name. */
  readonly hosts: readonly string[];
  /** The variables that clients read the address from; what they append to it follows in the path. */
  readonly variables: readonly string[];
};

/**
 * The providers whose calls are recorded. Bedrock's clients sign the name of the host, so a request that was made for another address
 * is none for Bedrock: its calls are recorded where they are intercepted.
 */
export const PROVIDERS = {
  openai: {
    address: 'https://api.openai.com/v1',
    hosts: ['api.openai.com'],
    variables: ['OPENAI_BASE_URL', 'OPENAI_API_BASE'],
  },
  anthropic: {
    address: 'https://api.anthropic.com',
    hosts: ['api.anthropic.com'],
    variables: ['ANTHROPIC_BASE_URL', 'ANTHROPIC_API_BASE'],
  },
  gemini: {
    address: 'https://generativelanguage.googleapis.com',
    hosts: ['generativelanguage.googleapis.com', 'aiplatform.googleapis.com', '*-aiplatform.googleapis.com'],
    variables: ['GOOGLE_GEMINI_BASE_URL'],
  },
  cohere: {
    address: 'https://api.cohere.com',
    hosts: ['api.cohere.com', 'api.cohere.ai'],
    variables: ['CO_API_URL'],
  },
  ollama: {
    address: 'http://127.0.0.1:11434',
    hosts: ['ollama.com'],
    variables: ['OLLAMA_HOST'],
  },
  mistral: {
    address: 'https://api.mistral.ai',
    hosts: ['api.mistral.ai', 'codestral.mistral.ai'],
    variables: [],
  },
  azure: {
    address: null,
    hosts: ['*.openai.azure.com', '*.services.ai.azure.com', '*.cognitiveservices.azure.com'],
    variables: ['AZURE_OPENAI_ENDPOINT'],
  },
  bedrock: {
    address: null,
    hosts: ['bedrock-runtime.*.amazonaws.com', 'bedrock-runtime-fips.*.amazonaws.com'],
    variables: [],
  },
} as const satisfies Record<string, ProviderFacts>;

export type Provider = keyof typeof PROVIDERS;

/** In the order of the table. */
export const PROVIDER_NAMES = Object.keys(PROVIDERS) as readonly Provider[];

/** The variable that says where the calls of a provider go, for `openai` as `STEMMA_UPSTREAM_OPENAI`. */
export const upstreamVariableOf = (provider: Provider): string => `STEMMA_UPSTREAM_${provider.toUpperCase()}`;

/** The provider that a host is of. @param host lower case, without a port */
export const providerOfHost = (host: string): Provider | undefined =>
  PROVIDER_NAMES.find((name) => PROVIDERS[name].hosts.some((pattern) => isOfPattern(host, pattern)));

/** `*` is a part of a name, or the beginning of one: `*-aiplatform.googleapis.com` is the host of a region. */
const isOfPattern = (host: string, pattern: string): boolean => {
  const parts = host.split('.');
  const wanted = pattern.split('.');
  return (
    parts.length === wanted.length &&
    wanted.every((part, i) => {
      const given = parts[i] ?? '';
      return part.startsWith('*')
        ? given.length > part.length - 1 && given.endsWith(part.slice(1))
        : given === part;
    })
  );
};
