import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { StartFault } from '../lib/errors.ts'
import { Secret } from '../lib/secret.ts'
import type { SettingInfo } from '../resources/admin/setting-info.ts'
import { findMisnamed } from './misnamed.ts'
import type { Setting } from './setting.ts'
import { agentsSettings } from './settings/agents.ts'
import { operationSettings } from './settings/operation.ts'
import { outsideSettings } from './settings/outside.ts'
import { providersSettings } from './settings/providers.ts'
import { serverSettings } from './settings/server.ts'
import { signInSettings } from './settings/sign-in.ts'
import { storageSettings } from './settings/storage.ts'

const general = {
  ...serverSettings,
  ...signInSettings,
  ...storageSettings,
  ...outsideSettings,
  ...agentsSettings,
  ...operationSettings,
} as const

/** All settings, in the order of their table in the documentation. */
export const settings: Setting<unknown>[] = [
  ...Object.values(general),
  ...providersSettings.flatMap(([, own]) => Object.values(own)),
]

type Settings = typeof general
type ValueOf<Kind> = Kind extends Setting<infer Value> ? Value : never
export type Config = { readonly [Key in keyof Settings]: ValueOf<Settings[Key]> } & {
  /** The values of the settings of each provider of models, by its id and their names in `ProviderKind`. */
  readonly providers: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Where each given setting comes from, by the name of its variable. */
  readonly sources: ReadonlyMap<string, 'env' | '.env'>
}

/**
 * Reads and checks the settings of an environment; frozen. StartFault that names all faults at once, without values,
 * because some are secret. `file` is the part of the environment from `.env`.
 */
export function readConfig(environment: NodeJS.ProcessEnv, file: NodeJS.ProcessEnv = {}): Config {
  const names = settings.map(({ name }) => name)
  const faults = findMisnamed(environment, names).map(
    ([name, meant]) => `${name} is not a setting; did you mean ${meant}? If it is for something else, unset it here`,
  )
  const sources = new Map<string, 'env' | '.env'>()
  const read = ({ name, default: fallback, schema }: Setting<unknown>): unknown => {
    // `PORT=` in a file means the same as no line.
    const given = environment[name] || fallback
    if (environment[name]) sources.set(name, environment[name] === file[name] ? '.env' : 'env')
    const result = given === null ? { success: true as const, data: null } : schema.safeParse(given)
    if (result.success) return result.data
    faults.push(`${name} ${result.error.issues[0]?.message ?? 'is not valid'}`)
    return undefined
  }
  const readAll = (group: Readonly<Record<string, Setting<unknown>>>) =>
    Object.fromEntries(Object.entries(group).map(([key, one]) => [key, read(one)]))
  const providers = Object.fromEntries(providersSettings.map(([id, own]) => [id, readAll(own)]))
  // Each member was checked by the schema that its type is made of.
  const config = Object.freeze({ ...readAll(general), providers, sources }) as unknown as Config
  if ((config.tlsCertFile === null) !== (config.tlsKeyFile === null)) {
    faults.push('TLS_CERT_FILE and TLS_KEY_FILE must be set together')
  }
  if ((config.s3AccessKeyId === null) !== (config.s3SecretAccessKey === null)) {
    faults.push('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together')
  }
  if (config.adminHost !== null && config.adminPort === null) faults.push('ADMIN_HOST needs an ADMIN_PORT')
  if (config.isOnlyKey && config.apiKey === null) faults.push('API_KEY_ONLY needs an API_KEY')
  faults.push(...findSignInFaults(config))
  if (faults.length > 0) throw new StartFault(['The configuration has faults:', ...faults].join('\n  - '))
  return config
}

/** What is wrong with the settings of sign-in by tokens of the host, together. */
function findSignInFaults(config: Config): string[] {
  const { authJwksUrl, authSecret, authPublicKey, authIssuer, authAudience, sources } = config
  const sourcesOfKeys = [authJwksUrl, authSecret, authPublicKey].filter(source => source !== null).length
  if (sourcesOfKeys > 1) return ['Only one of AUTH_JWKS_URL, AUTH_SECRET and AUTH_PUBLIC_KEY can be set']
  const isPartial = authJwksUrl !== null && (authIssuer === null || authAudience === null)
  if (isPartial)
    return ['AUTH_JWKS_URL needs AUTH_ISSUER and AUTH_AUDIENCE: a key set may be shared with other products']
  if (sourcesOfKeys === 1) return []
  return Object.values(signInSettings)
    .filter(({ name }) => sources.has(name))
    .map(({ name }) => `${name} needs AUTH_JWKS_URL, AUTH_SECRET or AUTH_PUBLIC_KEY`)
}

/** The process's environment, which overrides the file `.env` of the working directory. */
export function readEnvironment(file = readEnvironmentFile()): NodeJS.ProcessEnv {
  return { ...file, ...process.env }
}

export function readEnvironmentFile(): NodeJS.ProcessEnv {
  return existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {}
}

/** All settings and their values, without secrets, for administrators. */
export function describeSettings(config: Config): SettingInfo[] {
  const groups: (readonly [Readonly<Record<string, Setting<unknown>>>, Readonly<Record<string, unknown>>])[] = [
    [general, config],
    ...providersSettings.map(([id, own]) => [own, config.providers[id]!] as const),
  ]
  return groups.flatMap(([group, values]) =>
    Object.entries(group).map(([key, { name, default: fallback, meaning }]) => ({
      name,
      value: toShown(values[key]),
      default: fallback,
      source: config.sources.get(name) ?? 'default',
      description: meaning,
    })),
  )
}

function toShown(value: unknown): string | null {
  if (value === null) return null
  if (value instanceof Secret) return '[set]'
  if (!Array.isArray(value)) return String(value)
  return value.some(item => item instanceof Secret) ? '[set]' : value.join(',')
}
