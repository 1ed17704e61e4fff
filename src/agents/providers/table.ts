import { ipCheck } from '../../egress/ip-policy.ts'
import { Egress } from '../../egress/egress.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import { anthropic } from './anthropic.ts'
import { gemini } from './gemini.ts'
import { kapa } from './kapa.ts'
import { offline } from './builtin/offline.ts'
import { openAiChat } from './openai/chat.ts'
import { openAiResponses } from './openai/responses.ts'
import type { ConfiguredProvider, Provider, Providers } from './provider.ts'
import { openVendor, type Vendor } from './wire/vendor.ts'

const openAiHost = 'api.openai.com'

export interface VendorSettings {
  /** Without a slash at its end. */
  url: string
  key: Secret | null
  isConfigured: boolean
}

export interface ProviderSettings {
  anthropic: VendorSettings & { version: string }
  openai: VendorSettings & { form: 'auto' | 'responses' | 'chat'; images: 'auto' | 'true' | 'false' }
  gemini: VendorSettings
  kapa: VendorSettings
  /** `url` null: answers without a model. `model` null: the agent's own. */
  builtin: { url: string | null; key: Secret | null; model: string | null }
  /** The token limit of an answer where the agent has none and the vendor requires one. */
  maxTokens: number
}

/** A provider, configured or not. */
interface Entry extends ConfiguredProvider {
  isConfigured: boolean
  host: string | null
}

/** The providers that the settings configure. */
export function openProviders(settings: ProviderSettings, { clock, log }: { clock: Clock; log: Log }): Providers {
  const conceal = concealing(settings)
  // The operator configures these URLs, so model servers beside this one may be reached.
  const client = new Egress({ isAllowed: ipCheck({ allowsPrivate: true }) })
  const connect: Connect = (id, url, headers) => openVendor({ id, url, headers, client, conceal })
  const entries: Record<string, Entry> = {
    anthropic: openAnthropic(settings, connect),
    openai: openOpenAi(settings.openai, connect, log),
    gemini: openGemini(settings.gemini, connect, log),
    kapa: openKapa(settings.kapa, connect),
    builtin: openBuiltin(settings.builtin, connect, { clock, log }),
  }
  return {
    find(id) {
      const entry = Object.hasOwn(entries, id) ? entries[id] : undefined
      return entry?.isConfigured ? { ...entry, answer: checked(entry.answer) } : undefined
    },
    list: () =>
      Object.entries(entries).map(([id, { isConfigured, host }]) => ({ id, is_configured: isConfigured, host })),
    conceal,
  }
}

type Connect = (id: string, url: string, headers: Record<string, string>) => Vendor

function openAnthropic({ anthropic: settings, maxTokens }: ProviderSettings, connect: Connect): Entry {
  const { url, key, version, isConfigured } = settings
  const vendor = connect('anthropic', url, { ...named('x-api-key', key), 'anthropic-version': version })
  const answer = anthropic(vendor, maxTokens)
  return { answer, isConfigured, host: vendor.host, takesImages: true, takesTools: true }
}

function openOpenAi(settings: ProviderSettings['openai'], connect: Connect, log: Log): Entry {
  const { url, key, form, images, isConfigured } = settings
  const vendor = connect('openai', url, bearer(key))
  const isOpenAi = vendor.host === openAiHost
  const isChat = form === 'auto' ? !isOpenAi : form === 'chat'
  const answer = isChat ? openAiChat({ vendor, isOpenAi, log }) : openAiResponses(vendor, isOpenAi)
  const takesImages = images === 'auto' ? isOpenAi : images === 'true'
  return { answer, isConfigured, host: vendor.host, takesImages, takesTools: true }
}

function openGemini({ url, key, isConfigured }: VendorSettings, connect: Connect, log: Log): Entry {
  const vendor = connect('gemini', url, named('x-goog-api-key', key))
  return { answer: gemini(vendor, log), isConfigured, host: vendor.host, takesImages: true, takesTools: true }
}

function openKapa({ url, key, isConfigured }: VendorSettings, connect: Connect): Entry {
  const vendor = connect('kapa', url, named('X-API-KEY', key))
  return { answer: kapa(vendor), isConfigured, host: vendor.host, takesImages: false, takesTools: false }
}

function openBuiltin(
  { url, key, model }: ProviderSettings['builtin'],
  connect: Connect,
  { clock, log }: { clock: Clock; log: Log },
): Entry {
  const always = { isConfigured: true, takesImages: false, takesTools: true }
  if (url === null) return { ...always, answer: offline(clock), host: null }
  const vendor = connect('builtin', url, bearer(key))
  return { ...always, answer: openAiChat({ vendor, isOpenAi: false, model, log }), host: vendor.host }
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

function bearer(key: Secret | null): Record<string, string> {
  return key === null ? {} : { authorization: `Bearer ${key.reveal()}` }
}

function named(header: string, key: Secret | null): Record<string, string> {
  return key === null ? {} : { [header]: key.reveal() }
}

function concealing({ anthropic, openai, gemini, kapa, builtin }: ProviderSettings): (text: string) => string {
  const keys = [anthropic, openai, gemini, kapa, builtin].flatMap(({ key }) => (key === null ? [] : [key.reveal()]))
  return text => keys.reduce((clear, key) => clear.replaceAll(key, '[secret]'), text)
}
