import { createPublicKey } from 'node:crypto'
import { existsSync } from 'node:fs'
import { z } from 'zod'
import { isRange } from '../lib/address-ranges.ts'
import type { LogLevel } from '../lib/log.ts'
import { Secret } from '../lib/secret.ts'
import { isKey } from '../lib/vault.ts'
import { readHosts } from '../postgres/driver/hosts.ts'

/** A setting: an environment variable, its valid values, and its purpose. */
export interface Setting<Value> {
  name: string
  /** The value where the variable is absent or empty; null where absence has a meaning of its own. */
  default: string | null
  meaning: string
  schema: z.ZodType<Value, string>
}

export function setting<Value, Default extends string | null>(
  name: string,
  fallback: Default,
  schema: z.ZodType<Value, string>,
  meaning: string,
): Setting<Value | Extract<Default, null>> {
  return { name, default: fallback, meaning, schema }
}

export const text = z.string()
export const url = (protocol: RegExp, error: string) => z.url({ protocol, error })
export const secret = <Schema extends z.ZodType<string, string>>(schema: Schema) =>
  schema.transform(value => new Secret(value))
export const file = text.refine(existsSync, 'must name a file that exists')

export const databaseUrl = text
  .refine(value => readHosts(value) !== null, 'must be a postgres:// URL')
  .refine(
    value =>
      (readHosts(value)?.hosts.length ?? 0) < 2 || /[?&]target_session_attrs=(read-write|primary)(&|$)/.test(value),
    'must end in ?target_session_attrs=read-write where it names several servers',
  )

export const integer = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .refine(value => value >= least && value <= most, error)
}

export const share = z
  .string()
  .regex(/^(0(\.\d{1,9})?|1(\.0{1,9})?)$/, 'must be a number from 0 to 1')
  .transform(Number)

export const yesOrNo = z.enum(['true', 'false'], 'must be true or false').transform(value => value === 'true')

export const list = z.string().transform(value =>
  value
    .split(',')
    .map(part => part.trim())
    .filter(Boolean),
)

export const origins = list.refine(
  texts => texts.every(text => text === '*' || isOrigin(text)),
  'must be origins like https://app.example, with nothing after them, separated by commas',
)

/** Not by `URL.origin`, which is null for the schemes of apps, such as capacitor://localhost. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && url.host !== '' && text === `${url.protocol}//${url.host}`
}

export const ranges = list.refine(
  texts => texts.every(isRange),
  'must be address ranges like 10.0.0.0/8, separated by commas',
)

export const logLevel = z.enum(
  ['debug', 'info', 'warn', 'error'] satisfies LogLevel[],
  'must be debug, info, warn or error',
)

/** Error messages do not repeat the keys. */
export const secretKeys = list
  .refine(keys => keys.every(isKey), 'must be keys of 32 bytes in base64, separated by commas')
  .transform(keys => keys.map(key => new Secret(key)))

/** Used in a header. */
export const key = secret(text.regex(/^[!-~]+$/, 'must have no spaces'))

/**
 * A public key as PEM, given as that, or as the base64 within it, which every file of settings can hold on one line. RSA keys
 * of less than 2048 bits verify no token (RFC 7518, section 3.3).
 */
export const publicKey = text
  .transform(value => (value.includes('-----BEGIN') ? value.replaceAll(String.raw`\n`, '\n') : toPem(value)))
  .refine(value => !value.includes('PRIVATE KEY'), 'must be a public key: the private one stays with the host')
  .refine(isPublicKey, 'must be a public key, in PEM or its base64: RSA of at least 2048 bits, EC, or Ed25519')

function toPem(base64: string): string {
  return `-----BEGIN PUBLIC KEY-----\n${base64.replaceAll(/.{64}/g, '$&\n')}\n-----END PUBLIC KEY-----`
}

function isPublicKey(pem: string): boolean {
  try {
    const { asymmetricKeyType: type = '', asymmetricKeyDetails: details } = createPublicKey(pem)
    return type === 'rsa' ? (details?.modulusLength ?? 0) >= 2048 : ['ec', 'ed25519'].includes(type)
  } catch {
    // Whatever it is, it is no key.
    return false
  }
}

/** A URL that can be extended. */
export const plainUrl = url(/^https?$/, 'must be an http or https URL')
  .regex(/^\w+:\/\/[^/?#@]+(\/[^?#]*)?$/, 'must have no credentials, query or fragment')
  .transform(value => value.replace(/\/+$/, ''))
