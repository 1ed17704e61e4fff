import { z } from 'zod'
import { openAiChat } from '../openai/chat.ts'
import { bearer, providerKind } from '../kind.ts'
import { offline } from './offline.ts'

/** Needs no vendor: it answers without a model, or with that of a server which the operator names. */
export const builtin = providerKind({
  id: 'builtin',
  url: null,
  meanings: {
    url: 'Server that agents with the provider builtin ask, in the chat form of OpenAI; without it, they answer without a model',
    key: 'Key for the server at BUILTIN_URL',
  },
  settings: {
    model: {
      name: 'BUILTIN_MODEL',
      default: null,
      meaning: 'Model to ask there; without it, what each agent has as its model',
      schema: z.string(),
    },
  },
  open({ url, connect, key, own, clock, log }) {
    const takes = { takesImages: false, takesTools: true }
    if (url === null) return { ...takes, answer: offline(clock) }
    return { ...takes, answer: openAiChat({ vendor: connect(bearer(key)), isOpenAi: false, model: own.model, log }) }
  },
})
