import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { StartFault } from '../lib/errors.ts'
import { Secret } from '../lib/secret.ts'
import type { SettingInfo } from '../resources/admin/settings.ts'
import type { Setting } from './setting.ts'
import { agentsSettings } from './settings/agents.ts'
import { operationSettings } from './settings/operation.ts'
import { outsideSettings } from './settings/outside.ts'
import { providersSettings } from './settings/providers.ts'
import { serverSettings } from './settings/server.ts'
import { storageSettings } from './settings/storage.ts'

/** All settings, in the order of the README's table. */
export const settings = {
  ...serverSettings,
  ...storageSettings,
  ...outsideSettings,
  ...agentsSettings,
  ...providersSettings,
  ...operationSettings,
} as const

type Settings = typeof settings
type ValueOf<Kind> = Kind extends Setting<infer Value> ? Value : never
export type Config = { readonly [Key in keyof Settings]: ValueOf<Settings[Key]> } & {
  /** Where each given setting comes from, by the name of its variable. */
  readonly sources: ReadonlyMap<string, 'env' | '.env'>
}

/**
 * Reads and checks the settings of an environment; frozen. StartFault that names all faults at once, without values,
 * because some are secret. `file` is the part of the environment from `.env`.
 */
export function readConfig(environment: NodeJS.ProcessEnv, file: NodeJS.ProcessEnv = {}): Config {
  const faults: string[] = []
  const sources = new Map<string, 'env' | '.env'>()
  const values: Record<string, unknown> = { sources }
  for (const [key, { name, default: fallback, schema }] of Object.entries(settings) as [string, Setting<unknown>][]) {
    // `PORT=` in a file means the same as no line.
    const given = environment[name] || fallback
    if (environment[name]) sources.set(name, environment[name] === file[name] ? '.env' : 'env')
    const result = given === null ? { success: true as const, data: null } : schema.safeParse(given)
    if (result.success) values[key] = result.data
    else faults.push(`${name} ${result.error.issues[0]?.message ?? 'is not valid'}`)
  }
  // Each member was checked by the schema that its type is made of.
  const config = Object.freeze(values) as Config
  if ((config.tlsCertFile === null) !== (config.tlsKeyFile === null)) {
    faults.push('TLS_CERT_FILE and TLS_KEY_FILE must be set together')
  }
  if ((config.s3AccessKeyId === null) !== (config.s3SecretAccessKey === null)) {
    faults.push('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY must be set together')
  }
  if (config.adminHost !== null && config.adminPort === null) faults.push('ADMIN_HOST needs an ADMIN_PORT')
  if (config.isOnlyKey && config.apiKey === null) faults.push('API_KEY_ONLY needs an API_KEY')
  if (faults.length > 0) throw new StartFault(['The configuration has faults:', ...faults].join('\n  - '))
  return config
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
  return (Object.entries(settings) as [keyof Settings, Setting<unknown>][]).map(([key, setting]) => ({
    name: setting.name,
    value: toShown(config[key]),
    default: setting.default,
    source: config.sources.get(setting.name) ?? 'default',
    description: setting.meaning,
  }))
}

function toShown(value: unknown): string | null {
  if (value === null) return null
  if (value instanceof Secret) return '[set]'
  if (!Array.isArray(value)) return String(value)
  return value.some(item => item instanceof Secret) ? '[set]' : value.join(',')
}
