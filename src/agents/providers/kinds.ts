import { anthropic } from './anthropic.ts'
import { builtin } from './builtin/builtin.ts'
import { gemini } from './gemini.ts'
import { kapa } from './kapa.ts'
import type { ProviderKind } from './kind.ts'
import { openai } from './openai/openai.ts'

/** All providers, in the order of lists and settings. */
export const kinds: ProviderKind[] = [anthropic, openai, gemini, kapa, builtin]
