import { z } from 'zod'
import { bearer, providerKind } from '../kind.ts'
import { openAiChat } from './chat.ts'
import { openAiResponses } from './responses.ts'

const url = 'https://api.openai.com/v1'

/** OpenAI, and the many servers that speak its protocol. */
export const openai = providerKind({
  id: 'openai',
  url,
  meanings: { url: 'Where that provider is, or a server that speaks its protocol, such as http://localhost:11434/v1' },
  settings: {
    form: {
      name: 'OPENAI_FORM',
      default: 'auto',
      meaning: 'Which of its protocols is spoken: responses, chat, or auto, which is responses for OpenAI itself alone',
      schema: z.enum(['auto', 'responses', 'chat'], 'must be auto, responses or chat'),
    },
    images: {
      name: 'OPENAI_IMAGES',
      default: 'auto',
      meaning: 'Whether it is sent images; auto: OpenAI itself alone',
      schema: z.enum(['auto', 'true', 'false'], 'must be auto, true or false'),
    },
  },
  open({ connect, key, own: { form, images }, log }) {
    const vendor = connect(bearer(key))
    const isOpenAi = vendor.host === new URL(url).host
    const isChat = form === 'auto' ? !isOpenAi : form === 'chat'
    const answer = isChat ? openAiChat({ vendor, isOpenAi, log }) : openAiResponses(vendor, isOpenAi)
    return { answer, takesImages: images === 'auto' ? isOpenAi : images === 'true', takesTools: true }
  },
})
