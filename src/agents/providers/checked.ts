import type { Provider } from './provider.ts'

/**
 * Wraps a provider with the rules of all providers: it gets no tools that may not be called, and its text can be
 * stored.
 */
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
