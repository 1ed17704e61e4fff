import type { z } from 'zod'
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import type { ConfiguredProvider } from './provider.ts'
import type { Vendor } from './wire/vendor.ts'

/** A setting that only one provider has. Null as its default: its absence has a meaning. */
interface OwnSetting {
  /** The environment variable. */
  name: string
  default: string | null
  meaning: string
  schema: z.ZodType<unknown, string>
}

type OwnSettings = Record<string, OwnSetting>

type ValuesOf<Own extends OwnSettings> = {
  [Name in keyof Own]: z.output<Own[Name]['schema']> | Extract<Own[Name]['default'], null>
}

/** What a provider is opened with. */
export interface Opening<Own extends OwnSettings> {
  /** Without a slash at its end; null where the provider has no address of its own and none was set. */
  url: string | null
  key: Secret | null
  own: ValuesOf<Own>
  /** The HTTP API at `url`. The headers are sent with every request, and hold the key. */
  connect: (headers: Record<string, string>) => Vendor
  /** The token limit of an answer where the agent has none and the vendor requires one. */
  maxTokens: number
  clock: Clock
  log: Log
}

/**
 * A provider of models, as data. Its settings `ID_API_KEY` and `ID_URL`, the list of ids in the API, and what is concealed
 * in logs follow from it; `kinds.ts` lists all.
 */
export interface ProviderKind<Own extends OwnSettings = OwnSettings> {
  /** As agents name it: `anthropic`. */
  id: string
  /** The vendor's own address, at which a key is needed. Null: the provider works without any address. */
  url: string | null
  /** What the two settings are for, where that is not plain. */
  meanings?: { key?: string; url?: string }
  /** More settings, by the names that `own` has for their values. */
  settings: Own
  open: (opening: Opening<Own>) => ConfiguredProvider
}

/** A kind with the types of its own settings checked. */
export function providerKind<const Own extends OwnSettings>(kind: ProviderKind<Own>): ProviderKind {
  // `own` has been read by the kind's own settings.
  return kind as unknown as ProviderKind
}

export function bearer(key: Secret | null): Record<string, string> {
  return key === null ? {} : { authorization: `Bearer ${key.reveal()}` }
}

export function named(header: string, key: Secret | null): Record<string, string> {
  return key === null ? {} : { [header]: key.reveal() }
}
