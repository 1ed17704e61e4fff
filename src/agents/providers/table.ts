import { ipCheck } from '../../egress/ip-policy.ts'
import { Egress } from '../../egress/egress.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import { kinds } from './kinds.ts'
import type { Provider, Providers } from './provider.ts'
import { openVendor } from './wire/vendor.ts'

/** The values of a provider's settings. */
export interface ProviderValues {
  /** Without a slash at its end; null without one. */
  url: string | null
  key: Secret | null
  own: Record<string, unknown>
}

export interface ProviderSettings {
  /** For each kind, by its id. */
  byId: Readonly<Record<string, ProviderValues>>
  /** The token limit of an answer where the agent has none and the vendor requires one. */
  maxTokens: number
}

/** The providers that the settings configure. */
export function openProviders(settings: ProviderSettings, { clock, log }: { clock: Clock; log: Log }): Providers {
  const { byId, maxTokens } = settings
  const keys = Object.values(byId).flatMap(({ key }) => (key === null ? [] : [key.reveal()]))
  const conceal = (text: string) => keys.reduce((clear, key) => clear.replaceAll(key, '[secret]'), text)
  // The operator configures these URLs, so model servers beside this one may be reached.
  const client = new Egress({ isAllowed: ipCheck({ allowsPrivate: true }) })
  const entries = kinds.map(({ id, url: vendorsOwn, open }) => {
    const { url, key, own } = byId[id]!
    const connect = (headers: Record<string, string>) => openVendor({ id, url: url!, headers, client, conceal })
    const isConfigured = vendorsOwn === null || key !== null || url !== vendorsOwn
    const provider = open({ url, key, own, connect, maxTokens, clock, log })
    return { ...provider, id, isConfigured, host: url === null ? null : new URL(url).host }
  })
  return {
    find(id) {
      const entry = entries.find(one => one.id === id)
      return entry?.isConfigured ? { ...entry, answer: checked(entry.answer) } : undefined
    },
    list: () => entries.map(({ id, isConfigured, host }) => ({ id, is_configured: isConfigured, host })),
    conceal,
  }
}

/** Adds the rules of all providers: tools that may not be called are not offered, and the text can be stored. */
function checked(answer: Provider): Provider {
  return async function* (request, signal) {
    const offered = request.mayCall === false ? { ...request, tools: [], webSearch: false } : request
    for await (const event of answer(offered, signal)) {
      // PostgreSQL stores no NUL.
      if (event.type === 'text') yield { type: 'text', text: event.text.replaceAll('\0', '') }
      else yield event
    }
  }
}
