import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { z } from 'zod'
import { isRange } from '../lib/address-ranges.ts'
import type { AccessLogging } from '../http/server/access-log.ts'
import type { SettingInfo } from '../http/setting-info.ts'
import { StartFault } from '../lib/errors.ts'
import type { LogLevel } from '../lib/log.ts'
import { Secret } from '../lib/secret.ts'
import { readHosts } from '../postgres/driver/hosts.ts'

/** One setting: an environment variable, what it may be, and what it is for. */
interface Setting<Value> {
  name: string
  /** What is used when the variable is absent or empty; null where absence means something by itself. */
  default: string | null
  meaning: string
  schema: z.ZodType<Value, string>
}

function setting<Value>(
  name: string,
  fallback: string,
  schema: z.ZodType<Value, string>,
  meaning: string,
): Setting<Value>
function setting<Value>(
  name: string,
  fallback: null,
  schema: z.ZodType<Value, string>,
  meaning: string,
): Setting<Value | null>
function setting(name: string, fallback: string | null, schema: z.ZodType<unknown, string>, meaning: string) {
  return { name, default: fallback, meaning, schema }
}

const text = z.string()
const url = (protocol: RegExp, error: string) => z.url({ protocol, error })
const secret = <Schema extends z.ZodType<string, string>>(schema: Schema) =>
  schema.transform(value => new Secret(value))
const file = text.refine(existsSync, 'must name a file that exists')

const databaseUrl = text
  .refine(value => readHosts(value) !== null, 'must be a postgres:// URL')
  .refine(
    value =>
      (readHosts(value)?.hosts.length ?? 0) < 2 || /[?&]target_session_attrs=(read-write|primary)(&|$)/.test(value),
    'must end in ?target_session_attrs=read-write where it names several servers',
  )

const integer = (least: number, most: number) => {
  const error = `must be a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .refine(value => value >= least && value <= most, error)
}

const share = z
  .string()
  .regex(/^(0(\.\d{1,9})?|1(\.0{1,9})?)$/, 'must be a number from 0 to 1')
  .transform(Number)

function areHeaders(text: string): boolean {
  return text.split(',').every(pair => /^\s*[\w.-]+=[!-~]*\s*$/.test(pair) && !/%(?![0-9a-f]{2})/i.test(pair))
}

const yesOrNo = z.enum(['true', 'false'], 'must be true or false').transform(value => value === 'true')

const list = z.string().transform(value =>
  value
    .split(',')
    .map(part => part.trim())
    .filter(Boolean),
)

const origins = list.refine(
  texts => texts.every(text => text === '*' || isOrigin(text)),
  'must be origins like https://app.example, with nothing after them, separated by commas',
)

/** Not by `URL.origin`, which is null for the schemes of apps, as in capacitor://localhost. */
function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && url.host !== '' && text === `${url.protocol}//${url.host}`
}

const ranges = list.refine(texts => texts.every(isRange), 'must be address ranges like 10.0.0.0/8, separated by commas')

const logLevel = z.enum(['debug', 'info', 'warn', 'error'] satisfies LogLevel[], 'must be debug, info, warn or error')

/** Repeats none of them in its message. */
const secretKeys = list
  .refine(keys => keys.every(isKey), 'must be keys of 32 bytes in base64, separated by commas')
  .transform(keys => keys.map(key => new Secret(key)))

function isKey(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=$/.test(text)
}

/** Goes into a header. */
const key = secret(text.regex(/^[!-~]+$/, 'must have no spaces'))

/** Something can be put behind it. */
const plainUrl = url(/^https?$/, 'must be an http or https URL')
  .regex(/^\w+:\/\/[^/?#@]+(\/[^?#]*)?$/, 'must have no credentials, query or fragment')
  .transform(value => value.replace(/\/+$/, ''))

// The vendors' own addresses: with another one, a provider works without a key.
export const anthropicUrl = 'https://api.anthropic.com'
export const openaiUrl = 'https://api.openai.com/v1'
export const geminiUrl = 'https://generativelanguage.googleapis.com'
export const kapaUrl = 'https://api.kapa.ai'

/** Every setting there is. The README's table is made from this list. */
export const settings = {
  port: setting('PORT', '8080', integer(0, 65_535), 'Port for HTTP and WebSocket; 0 takes any free one'),
  host: setting('HOST', null, text, 'Address to listen on; without it, all addresses'),
  publicUrl: setting(
    'PUBLIC_URL',
    null,
    plainUrl,
    'Address under which clients reach this server, for absolute URLs; without it, what each request says, and localhost for webhooks',
  ),
  dataDir: setting('DATA_DIR', '.data', text, 'Folder for everything that is kept on this machine'),
  databaseUrl: setting(
    'DATABASE_URL',
    null,
    secret(databaseUrl),
    'PostgreSQL 15 or newer, its servers separated by commas; without it, one is started under DATA_DIR',
  ),
  replicaUrl: setting(
    'DATABASE_REPLICA_URL',
    null,
    secret(url(/^postgres(ql)?$/, 'must be a postgres:// URL')),
    'A streaming replica of it, for searches and deep pages where it is up to date; without it, the primary is read',
  ),
  redisUrl: setting(
    'REDIS_URL',
    null,
    secret(url(/^rediss?$/, 'must be a redis:// or rediss:// URL')),
    'Redis 7 or newer, or Valkey, for several nodes; without it, news of other nodes takes a second',
  ),
  redisIsCluster: setting('REDIS_CLUSTER', 'false', yesOrNo, 'Whether REDIS_URL names a node of a Redis Cluster'),
  s3Bucket: setting(
    'S3_BUCKET',
    null,
    text,
    'Bucket of an S3-compatible store for uploads; without it, they are kept under DATA_DIR',
  ),
  s3Endpoint: setting(
    'S3_ENDPOINT',
    null,
    url(/^https?$/, 'must be an http or https URL'),
    'Address of that store; without it, Amazon S3',
  ),
  s3Region: setting('S3_REGION', 'us-east-1', text, 'Region of that store'),
  s3AccessKeyId: setting('S3_ACCESS_KEY_ID', null, text, 'Access key; without it, what the machine is allowed'),
  s3SecretAccessKey: setting('S3_SECRET_ACCESS_KEY', null, secret(text), 'The secret of that access key'),
  s3PathStyle: setting('S3_PATH_STYLE', 'false', yesOrNo, 'Whether the bucket is part of the path, as in MinIO'),
  databaseConnections: setting(
    'DATABASE_CONNECTIONS',
    '10',
    integer(1, 500),
    'Connections of this node for reading and for writes that belong to no app; beside them it has COMMIT_LANES and two',
  ),
  commitLanes: setting('COMMIT_LANES', '1', integer(1, 16), 'Connections of this node for group commits'),
  statementSeconds: setting(
    'STATEMENT_SECONDS',
    '30',
    integer(1, 3600),
    'Time that PostgreSQL may take for one statement',
  ),
  apiKey: setting(
    'API_KEY',
    null,
    secret(text.regex(/^wys_[\w.~+/=-]{28,}$/, 'must begin with wys_ and have at least 32 characters, without spaces')),
    'An API key that is to be valid; without it, one is made at the first start and printed once',
  ),
  isOnlyKey: setting(
    'API_KEY_ONLY',
    'false',
    yesOrNo,
    'Whether the start revokes all API keys but API_KEY, on all nodes and for good',
  ),
  hasAdmin: setting('ADMIN', 'true', yesOrNo, 'Whether there is the administration page, and what it calls, at /admin'),
  adminPort: setting(
    'ADMIN_PORT',
    null,
    integer(0, 65_535),
    'A port for that alone; without it, it is on the port of everything else',
  ),
  adminHost: setting('ADMIN_HOST', null, text, 'Address to open that port on; without it, all addresses'),
  adminAllow: setting(
    'ADMIN_ALLOW',
    '',
    ranges,
    'Addresses that administration is open to, as in 10.0.0.0/8,fd00::/8; without it, all that reach the port',
  ),
  metricsToken: setting(
    'METRICS_TOKEN',
    null,
    secret(text.regex(/^[\w.~+/=-]{16,256}$/, 'must have at least 16 characters, without spaces')),
    'Bearer token that /metrics asks for; without it, whoever reaches the port may read it',
  ),
  otlpEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    null,
    plainUrl,
    'OpenTelemetry collector that traces are sent to, as in http://localhost:4318; without it, nothing is traced',
  ),
  otlpHeaders: setting(
    'OTEL_EXPORTER_OTLP_HEADERS',
    null,
    secret(text.refine(areHeaders, 'must be name=value pairs, separated by commas, with values percent-encoded')),
    'Headers for that collector, as in authorization=Bearer%20abc',
  ),
  otelServiceName: setting('OTEL_SERVICE_NAME', 'parley', text, 'What traces call this deployment'),
  otelRatio: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    '1',
    share,
    'Share of the traces that are kept, from 0 to 1; where a request says whether its trace is kept, that counts',
  ),
  tlsCertFile: setting('TLS_CERT_FILE', null, file, 'Certificate chain (PEM) to serve HTTPS with'),
  tlsKeyFile: setting('TLS_KEY_FILE', null, file, 'Private key (PEM) of that certificate'),
  trustProxy: setting('TRUST_PROXY', 'false', yesOrNo, 'Whether X-Forwarded-For and X-Forwarded-Proto are believed'),
  corsOrigins: setting('CORS_ORIGINS', '*', origins, 'Origins, separated by commas, whose pages may call; * for all'),
  bodyLimitMb: setting('BODY_LIMIT_MB', '4', integer(1, 64), 'Size of a JSON body, in MiB'),
  bodySeconds: setting('BODY_SECONDS', '30', integer(1, 600), 'Time that a request may take to arrive'),
  ratePerMinute: setting(
    'RATE_LIMIT_PER_MINUTE',
    '0',
    integer(0, 1_000_000),
    'Requests of one access token; 0 for no limit',
  ),
  upsertsJoin: setting(
    'UPSERTS_JOIN',
    'true',
    yesOrNo,
    'Whether whoever upserts the uid of an app that was made by upsert becomes a member of it',
  ),
  mailboxLimit: setting('MAILBOX_LIMIT', '1000', integer(1, 1_000_000), 'Writes that may wait for one app'),
  mailboxTotal: setting('MAILBOX_TOTAL', '20000', integer(1, 10_000_000), 'Writes that may wait in all'),
  actorMemoryMb: setting('ACTOR_MEMORY_MB', '256', integer(16, 1_000_000), 'Memory for the apps in use, in MiB'),
  trashDays: setting(
    'TRASH_DAYS',
    '0',
    integer(0, 3650),
    'Days after which messages, posts, comments and files in the trash are deleted; 0 for never',
  ),
  eventDays: setting('EVENT_DAYS', '7', integer(1, 3650), 'Days for which the history of changes is kept'),
  auditDays: setting(
    'AUDIT_DAYS',
    '365',
    integer(31, 36_500),
    'Days for which it is kept who changed what, to a month',
  ),
  notifySeconds: setting(
    'NOTIFY_SECONDS',
    '5',
    integer(0, 3600),
    'Time that a message has to be unread before people are notified of it',
  ),
  webhookRate: setting('WEBHOOK_RATE_PER_SECOND', '50', integer(1, 10_000), 'Deliveries to one webhook receiver'),
  webhookParallel: setting(
    'WEBHOOK_PARALLEL',
    '8',
    integer(1, 100),
    'Deliveries to one webhook at a time, of different apps; those of one app follow each other',
  ),
  webhookSeconds: setting('WEBHOOK_SECONDS', '10', integer(1, 60), 'Time that a webhook receiver has to answer'),
  webhookDeny: setting('WEBHOOK_DENY', '', ranges, 'Addresses that webhooks may not reach, as in 10.0.0.0/8,fd00::/8'),
  webhookAllow: setting(
    'WEBHOOK_ALLOW',
    '',
    ranges,
    'Addresses that webhooks may reach beyond public, private and loopback ones',
  ),
  fetchAllow: setting(
    'FETCH_ALLOW',
    '',
    ranges,
    'Addresses beyond public ones that pictures and link previews may come from; names in /etc/hosts do not count',
  ),
  sessions: setting('SESSIONS', '50000', integer(1, 10_000_000), 'Realtime connections of this node'),
  sessionsPerUser: setting('SESSIONS_PER_USER', '50', integer(1, 1_000_000), 'Realtime connections of one user'),
  sessionSubscriptions: setting(
    'SESSION_SUBSCRIPTIONS',
    '500',
    integer(1, 100_000),
    'Apps that one realtime connection may be subscribed to',
  ),
  sessionBacklogKb: setting(
    'SESSION_BACKLOG_KB',
    '1024',
    integer(64, 1_000_000),
    'What may wait for a slow realtime client before it is cut, in KiB',
  ),
  hasRuns: setting('AGENTS', 'true', yesOrNo, 'Whether this node answers for agents; questions are noted in any case'),
  agentRunsAtOnce: setting('AGENT_RUNS_AT_ONCE', '16', integer(1, 10_000), 'Answers of agents that this node works on'),
  agentSeconds: setting('AGENT_SECONDS', '120', integer(1, 3600), 'Time for an answer, waiting for approval apart'),
  agentInputTokens: setting(
    'AGENT_INPUT_TOKENS',
    '24000',
    integer(1000, 10_000_000),
    'Tokens, by estimate, that a model is given with a question',
  ),
  agentRunsPerUser: setting(
    'AGENT_RUNS_PER_USER',
    '60',
    integer(0, 1_000_000),
    'Answers that one user may ask for in a minute; 0 for no limit',
  ),
  agentRunsPerApp: setting(
    'AGENT_RUNS_PER_APP',
    '300',
    integer(0, 1_000_000),
    'Answers that may be asked for in one app in a minute; 0 for no limit',
  ),
  agentTokensPerDay: setting(
    'AGENT_TOKENS_PER_DAY',
    '0',
    integer(0, 1_000_000_000_000),
    'Tokens of one agent in a day (UTC); 0 for no limit',
  ),
  agentErrorText: setting('AGENT_ERROR_TEXT', null, text, 'What agents say where they cannot answer; without it, why'),
  isAgentTraced: setting(
    'AGENT_TRACE',
    'false',
    yesOrNo,
    'Whether what models and tools said is kept with the runs of agents, for API keys to read',
  ),
  agentRunDays: setting('AGENT_RUN_DAYS', '30', integer(1, 3650), 'Days for which runs of agents are kept'),
  assistantProvider: setting(
    'ASSISTANT_PROVIDER',
    null,
    z.enum(['anthropic', 'gemini', 'kapa', 'openai', 'builtin'], 'must be anthropic, gemini, kapa, openai or builtin'),
    'Provider of an agent that is made at the start, where there is none with its uid; without it, none is made',
  ),
  assistantUid: setting(
    'ASSISTANT_UID',
    'assistant',
    text.regex(/^(?=.*\D)\S{1,256}$/, 'must have at least one character that is no digit, and no spaces'),
    'Uid of that agent',
  ),
  assistantName: setting('ASSISTANT_NAME', 'Assistant', text.max(256), 'Name of the ready-made assistant'),
  assistantModel: setting(
    'ASSISTANT_MODEL',
    'echo',
    text.max(256),
    'Model of the ready-made assistant; of builtin, what it does',
  ),
  assistantInstructions: setting(
    'ASSISTANT_INSTRUCTIONS',
    null,
    text.max(32_768),
    'What the ready-made assistant is told',
  ),
  toolDeny: setting(
    'TOOL_DENY',
    null,
    ranges,
    'Addresses that functions and tool servers of agents may not reach; without it, those of WEBHOOK_DENY',
  ),
  toolAllow: setting(
    'TOOL_ALLOW',
    null,
    ranges,
    'Addresses that they may reach beyond public, private and loopback ones; without it, those of WEBHOOK_ALLOW',
  ),
  functionSecret: setting(
    'FUNCTION_SECRET',
    null,
    secret(text.min(16, 'must have at least 16 characters')),
    'Signs the calls of functions, as in Standard Webhooks; without it, they are not signed',
  ),
  secretKeys: setting(
    'SECRET_KEYS',
    '',
    secretKeys,
    'Keys (32 bytes, base64) that seal headers of agents’ tools and secrets of webhooks: the first seals, all open',
  ),
  drainSeconds: setting(
    'DRAIN_SECONDS',
    '20',
    integer(1, 600),
    'Time to finish what was begun when the node is stopped',
  ),
  drainDelaySeconds: setting(
    'DRAIN_DELAY_SECONDS',
    '0',
    integer(0, 600),
    'Time before that in which a node that is stopped goes on as before, and /ready says that it is about to stop',
  ),
  drainQuietMs: setting(
    'DRAIN_QUIET_MS',
    '1000',
    integer(0, 60_000),
    'Time without a request after which a node that is stopped ends connections that are still open, in ms',
  ),
  anthropicApiKey: setting('ANTHROPIC_API_KEY', null, key, 'Key for agents with the provider anthropic'),
  anthropicUrl: setting('ANTHROPIC_URL', anthropicUrl, plainUrl, 'Where that provider is'),
  anthropicVersion: setting(
    'ANTHROPIC_VERSION',
    '2023-06-01',
    text.regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a date like 2023-06-01'),
    'Version of its API',
  ),
  openaiApiKey: setting('OPENAI_API_KEY', null, key, 'Key for agents with the provider openai'),
  openaiUrl: setting(
    'OPENAI_URL',
    openaiUrl,
    plainUrl,
    'Where that provider is, or a server that speaks its protocol, such as http://localhost:11434/v1',
  ),
  openaiForm: setting(
    'OPENAI_FORM',
    'auto',
    z.enum(['auto', 'responses', 'chat'], 'must be auto, responses or chat'),
    'Which of its protocols is spoken: responses, chat, or auto, which is responses for OpenAI itself alone',
  ),
  openaiImages: setting(
    'OPENAI_IMAGES',
    'auto',
    z.enum(['auto', 'true', 'false'], 'must be auto, true or false'),
    'Whether it is sent images; auto: OpenAI itself alone',
  ),
  geminiApiKey: setting('GEMINI_API_KEY', null, key, 'Key for agents with the provider gemini'),
  geminiUrl: setting('GEMINI_URL', geminiUrl, plainUrl, 'Where that provider is'),
  kapaApiKey: setting('KAPA_API_KEY', null, key, 'Key for agents with the provider kapa'),
  kapaUrl: setting('KAPA_URL', kapaUrl, plainUrl, 'Where that provider is'),
  builtinUrl: setting(
    'BUILTIN_URL',
    null,
    plainUrl,
    'Server that agents with the provider builtin ask, in the chat form of OpenAI; without it, they answer without a model',
  ),
  builtinApiKey: setting('BUILTIN_API_KEY', null, key, 'Key for that server'),
  builtinModel: setting(
    'BUILTIN_MODEL',
    null,
    text,
    'Model to ask there; without it, what each agent has as its model',
  ),
  agentMaxTokens: setting(
    'AGENT_MAX_TOKENS',
    '4096',
    integer(1, 1_000_000),
    'Longest answer of an agent in tokens, where the agent has no limit and the vendor asks for one',
  ),
  accessLog: setting(
    'ACCESS_LOG',
    'off',
    z.enum(['off', 'sampled', 'all'] satisfies AccessLogging[], 'must be off, sampled or all'),
    'Whether requests are logged: all, or those that fail with 5xx and one in a hundred of the others',
  ),
  logLevel: setting('LOG_LEVEL', 'info', logLevel, 'The least level that is logged: debug, info, warn, error'),
  version: setting('VERSION', '32.1.0', text.regex(/^\d+\.\d+\.\d+/, 'must look like 1.2.3'), 'What /version answers'),
} as const

type Settings = typeof settings
type ValueOf<Kind> = Kind extends Setting<infer Value> ? Value : never
export type Config = { readonly [Key in keyof Settings]: ValueOf<Settings[Key]> } & {
  /** The settings that were given, by the names of their variables, and where. */
  readonly sources: ReadonlyMap<string, 'env' | '.env'>
}

/**
 * The checked settings from an environment, frozen. Throws a StartFault that names all that is wrong at once.
 * Values are repeated in no message: some are secret. `file` is the part of the environment that came from `.env`.
 */
export function readConfig(environment: NodeJS.ProcessEnv, file: NodeJS.ProcessEnv = {}): Config {
  const faults: string[] = []
  const sources = new Map<string, 'env' | '.env'>()
  const values: Record<string, unknown> = { sources }
  for (const [key, { name, default: fallback, schema }] of Object.entries(settings) as [string, Setting<unknown>][]) {
    // `PORT=` in a file means the same as leaving the line out.
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

/** The process's environment, over what the file `.env` of the working directory says, if there is one. */
export function readEnvironment(file = readEnvironmentFile()): NodeJS.ProcessEnv {
  return { ...file, ...process.env }
}

export function readEnvironmentFile(): NodeJS.ProcessEnv {
  return existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {}
}

/** Every setting with its value, for people who may see all but secrets. */
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
