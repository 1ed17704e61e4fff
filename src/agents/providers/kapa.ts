import { z } from 'zod'
import { named, providerKind } from './kind.ts'
import { ProviderFailed, type ModelRequest, type Provider } from './provider.ts'
import { list, readFields, text } from './wire/fields.ts'
import type { Vendor, VendorAnswer } from './wire/vendor.ts'

/** The most characters of a question, by the specification of agents. */
const queryLimit = 8_000

const Answer = z.object({
  answer: text,
  thread_id: text,
  relevant_sources: list(z.object({ source_url: text, title: text })),
})

export const kapa = providerKind({
  id: 'kapa',
  url: 'https://api.kapa.ai',
  settings: {},
  open({ connect, key }) {
    return { answer: chatApi(connect(named('X-API-KEY', key))), takesImages: false, takesTools: false }
  },
})

/**
 * kapa.ai, which has its own instructions and knowledge: it gets the question with its attachments, and keeps the
 * conversation as a thread. The agent's model is the project. Not streamed.
 */
function chatApi(vendor: Vendor): Provider {
  return async function* (request, signal) {
    const answer = await ask(vendor, request, signal)
    const {
      answer: said = '',
      thread_id: thread,
      relevant_sources,
    } = readFields(vendor.id, Answer, await answer.json())
    yield { type: 'text', text: said }
    for (const { source_url: url, title } of relevant_sources ?? []) {
      if (url !== undefined) yield { type: 'source', url, title: title || url }
    }
    yield { type: 'end', reason: 'stop', calls: [], body: null, thread }
  }
}

async function ask(vendor: Vendor, request: ModelRequest, signal: AbortSignal): Promise<VendorAnswer> {
  const body = { query: toQuery(request), user: { unique_client_id: request.person } }
  const post = (path: string) => vendor.post(`/query/v1/${path}/chat/`, body, signal, 'application/json')
  const begin = `projects/${encodeURIComponent(request.model)}`
  if (request.thread === null) return post(begin)
  try {
    return await post(`threads/${encodeURIComponent(request.thread)}`)
  } catch (error) {
    // The thread is gone, or belongs to the agent's earlier project.
    if (error instanceof ProviderFailed && error.status === 404) return post(begin)
    throw error
  }
}

function toQuery({ question, excerpts }: ModelRequest): string {
  return [question, ...excerpts.map(({ text }) => text)].join('\n\n').slice(0, queryLimit)
}
