import type { Provider } from './userSettings'

/** A service that has models, and how this server speaks with it. */
export interface ModelService {
  readonly id: string
  /** Its own name, the same in every language; left out for one that has none. */
  readonly name?: string
  readonly provider: Provider
  /** Empty: the provider's own. */
  readonly address: string
  /** Where a person gets a key. */
  readonly keys?: string
  readonly needsKey: boolean
  /** Whether people have it at addresses of their own. */
  readonly hasAddress: boolean
}

const compatible = (id: string, name: string, address: string, keys: string): ModelService => ({
  id,
  name,
  provider: 'openai',
  address,
  keys,
  needsKey: true,
  hasAddress: false,
})

/** In the order in which they are offered. */
export const SERVICES: readonly ModelService[] = [
  compatible('openai', 'OpenAI', '', 'https://platform.openai.com/api-keys'),
  {
    id: 'anthropic',
    name: 'Anthropic',
    provider: 'anthropic',
    address: '',
    keys: 'https://console.anthropic.com/settings/keys',
    needsKey: true,
    hasAddress: false,
  },
  compatible('openrouter', 'OpenRouter', 'https://openrouter.ai/api/v1', 'https://openrouter.ai/settings/keys'),
  compatible('deepseek', 'DeepSeek', 'https://api.deepseek.com', 'https://platform.deepseek.com/api_keys'),
  compatible(
    'gemini',
    'Gemini',
    'https://generativelanguage.googleapis.com/v1beta/openai',
    'https://aistudio.google.com/apikey',
  ),
  {
    id: 'ollama',
    name: 'Ollama',
    provider: 'openai',
    address: 'http://localhost:11434/v1',
    needsKey: false,
    hasAddress: true,
  },
  { id: 'other', provider: 'openai', address: '', needsKey: false, hasAddress: true },
]
