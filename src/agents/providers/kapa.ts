import { z } from 'zod'
import { listMaterial } from './material.ts'
import { ProviderFailed, type ModelEvent, type ModelRequest, type Provider } from './provider.ts'
import { readFields, text } from './wire/fields.ts'
import type { Vendor, VendorAnswer } from './wire/vendor.ts'

/** The most characters of a question, by the specification of agents. */
const queryLimit = 8_000

const Answer = z.object({
  answer: text,
  thread_id: text,
  relevant_sources: z
    .array(z.object({ source_url: text, title: text }))
    .optional()
    .catch(undefined),
})

/**
 * kapa.ai, which has its own instructions and knowledge: it gets the question with its attachments, and keeps the
 * conversation as a thread. The agent's model is the project. Not streamed.
 */
export class Kapa implements Provider {
  readonly #vendor: Vendor

  constructor({ vendor }: { vendor: Vendor }) {
    this.#vendor = vendor
  }

  async *answer(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    const answer = await this.#ask(request, signal)
    const { answer: said = '', thread_id, relevant_sources } = readFields(this.#vendor.id, Answer, await answer.json())
    yield { type: 'text', text: said }
    for (const { source_url: url, title } of relevant_sources ?? []) {
      if (url !== undefined) yield { type: 'source', url, title: title || url }
    }
    yield { type: 'end', reason: 'stop', calls: [], body: null, ...(thread_id !== undefined && { thread: thread_id }) }
  }

  async #ask(request: ModelRequest, signal: AbortSignal): Promise<VendorAnswer> {
    const body = { query: toQuery(request), user: { unique_client_id: request.person } }
    const begin = `/query/v1/projects/${encodeURIComponent(request.model)}/chat/`
    if (request.thread === null) return this.#post(begin, body, signal)
    try {
      return await this.#post(`/query/v1/threads/${encodeURIComponent(request.thread)}/chat/`, body, signal)
    } catch (error) {
      // The thread is gone, or belongs to the agent's earlier project.
      if (error instanceof ProviderFailed && error.status === 404) return this.#post(begin, body, signal)
      throw error
    }
  }

  #post(path: string, body: object, signal: AbortSignal): Promise<VendorAnswer> {
    return this.#vendor.post(path, body, signal, 'application/json')
  }
}

function toQuery(request: ModelRequest): string {
  const material = listMaterial(request).map(({ text }) => text)
  return [request.question, ...material].join('\n\n').slice(0, queryLimit)
}
