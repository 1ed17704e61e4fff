import type { Provider } from './provider.ts'

/** What all providers have in common: tools that may not be called are not offered, and text is such as can be stored. */
export function checked(provider: Provider): Provider {
  return {
    async *answer(request, signal) {
      const offered = request.mayCall === false ? { ...request, tools: [], webSearch: false } : request
      for await (const event of provider.answer(offered, signal)) {
        // PostgreSQL stores no NUL.
        if (event.type === 'text') yield { type: 'text', text: event.text.replaceAll('\0', '') }
        else yield event
      }
    },
  }
}
