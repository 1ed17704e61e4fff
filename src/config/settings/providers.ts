import { z } from 'zod'
import { integer, key, plainUrl, setting, text } from '../setting.ts'

// The vendors' own addresses: with another one, a provider works without a key.
export const anthropicUrl = 'https://api.anthropic.com'
export const openaiUrl = 'https://api.openai.com/v1'
export const geminiUrl = 'https://generativelanguage.googleapis.com'
export const kapaUrl = 'https://api.kapa.ai'

/** The models that agents ask. */
export const providersSettings = {
  anthropicApiKey: setting('ANTHROPIC_API_KEY', null, key, 'Key for agents with the provider anthropic'),
  anthropicUrl: setting('ANTHROPIC_URL', anthropicUrl, plainUrl, 'Where that provider is'),
  anthropicVersion: setting(
    'ANTHROPIC_VERSION',
    '2023-06-01',
    text.regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date like 2023-06-01'),
    'Version of its API',
  ),
  openaiApiKey: setting('OPENAI_API_KEY', null, key, 'Key for agents with the provider openai'),
  openaiUrl: setting(
    'OPENAI_URL',
    openaiUrl,
    plainUrl,
    'Where that provider is, or a server that speaks its protocol, such as http://localhost:11434/v1',
  ),
  openaiForm: setting(
    'OPENAI_FORM',
    'auto',
    z.enum(['auto', 'responses', 'chat'], 'must be auto, responses or chat'),
    'Which of its protocols is spoken: responses, chat, or auto, which is responses for OpenAI itself alone',
  ),
  openaiImages: setting(
    'OPENAI_IMAGES',
    'auto',
    z.enum(['auto', 'true', 'false'], 'must be auto, true or false'),
    'Whether it is sent images; auto: OpenAI itself alone',
  ),
  geminiApiKey: setting('GEMINI_API_KEY', null, key, 'Key for agents with the provider gemini'),
  geminiUrl: setting('GEMINI_URL', geminiUrl, plainUrl, 'Where that provider is'),
  kapaApiKey: setting('KAPA_API_KEY', null, key, 'Key for agents with the provider kapa'),
  kapaUrl: setting('KAPA_URL', kapaUrl, plainUrl, 'Where that provider is'),
  builtinUrl: setting(
    'BUILTIN_URL',
    null,
    plainUrl,
    'Server that agents with the provider builtin ask, in the chat form of OpenAI; without it, they answer without a model',
  ),
  builtinApiKey: setting('BUILTIN_API_KEY', null, key, 'Key for that server'),
  builtinModel: setting(
    'BUILTIN_MODEL',
    null,
    text,
    'Model to ask there; without it, what each agent has as its model',
  ),
  agentMaxTokens: setting(
    'AGENT_MAX_TOKENS',
    '4096',
    integer(1, 1_000_000),
    'Longest answer of an agent in tokens, where the agent has no limit and the vendor asks for one',
  ),
} as const
