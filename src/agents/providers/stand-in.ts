// Until the providers are there: echo alone.
import type { Providers } from './provider.ts'

export const standIn: Providers = {
  find: id =>
    id !== 'builtin'
      ? undefined
      : {
          takesImages: false,
          takesTools: true,
          provider: {
            async *answer({ question, agent }, signal) {
              const wait = /^wait (\d+)/m.exec(question)
              if (wait) {
                await new Promise<void>((resolve, reject) => {
                  setTimeout(resolve, Number(wait[1]) * 1000)
                  signal.addEventListener('abort', () => reject(signal.reason as Error))
                })
              }
              yield { type: 'text', text: `${agent} works without a language model here. You asked:\n\n> ${question}` }
              yield { type: 'end', reason: 'stop', calls: [], body: null }
            },
          },
        },
  list: () => [],
  conceal: text => text,
}
