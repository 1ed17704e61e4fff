import { join } from 'node:path'
import type { ProviderSettings } from '../agents/providers/table.ts'
import type { Config } from './config.ts'
import { anthropicUrl, geminiUrl, kapaUrl, openaiUrl } from './settings/providers.ts'
import type { HttpServerSettings } from '../http/server/server.ts'
import type { OutsideSettings } from '../egress/outside.ts'
import type { Secret } from '../lib/secret.ts'
import type { TraceSettings } from '../monitoring/traces.ts'
import { realtimeDefaults, type RealtimeSettings } from '../realtime/settings.ts'
import type { AssistantSettings } from '../resources/agents/assistant.ts'
import type { ToolSettings } from '../resources/agents/tools.ts'
import type { RunSettings } from '../resources/agents/runs/start.ts'
import type { DeliverySettings } from '../resources/webhooks/delivery.ts'
import type { BytesSettings } from '../bytes/bytes-open.ts'

// The options of each part, derived from the configuration, in the part's own words and units.

export function toRealtimeSettings(config: Config): RealtimeSettings {
  return {
    ...realtimeDefaults,
    sessions: config.sessions,
    userSessions: config.sessionsPerUser,
    subscriptions: config.sessionSubscriptions,
    backlogBytes: config.sessionBacklogKb * 1024,
  }
}

export function toHttpServerSettings(config: Config): HttpServerSettings {
  const { tlsCertFile, tlsKeyFile, corsOrigins, adminPort: port, adminHost: host, adminAllow: allow } = config
  return {
    version: config.version,
    admin: config.hasAdmin ? { port, host, allow } : null,
    accessLogging: config.accessLog,
    metricsToken: config.metricsToken,
    publicUrl: config.publicUrl,
    tls: tlsCertFile === null || tlsKeyFile === null ? null : { certFile: tlsCertFile, keyFile: tlsKeyFile },
    corsOrigins: corsOrigins.includes('*') ? 'any' : corsOrigins,
    isProxied: config.trustProxy,
    bodyLimitBytes: config.bodyLimitMb * 1024 * 1024,
    bodyDeadlineMs: config.bodySeconds * 1000,
    quietMs: config.drainQuietMs,
    ratePerMinute: config.ratePerMinute === 0 ? null : config.ratePerMinute,
  }
}

export function toDeliverySettings(config: Config): DeliverySettings {
  return {
    version: config.version,
    ratePerSecond: config.webhookRate,
    parallel: config.webhookParallel,
    deadlineMs: config.webhookSeconds * 1000,
    allow: config.webhookAllow,
    deny: config.webhookDeny,
  }
}

export function toRunSettings(config: Config): RunSettings {
  return {
    isOn: config.hasRuns,
    atOnce: config.agentRunsAtOnce,
    runMs: config.agentSeconds * 1000,
    limits: {
      perUser: config.agentRunsPerUser,
      perApp: config.agentRunsPerApp,
      tokensPerDay: config.agentTokensPerDay,
    },
    inputTokens: config.agentInputTokens,
    errorText: config.agentErrorText,
    isTraced: config.isAgentTraced,
    keepDays: config.agentRunDays,
  }
}

/** Null where there is to be no assistant. */
export function toAssistantSettings(config: Config): AssistantSettings | null {
  const { assistantProvider: provider, assistantUid: uid, assistantName: name, assistantModel: model } = config
  return provider === null ? null : { uid, name, provider, model, instructions: config.assistantInstructions }
}

export function toToolSettings(config: Config): ToolSettings {
  return {
    version: config.version,
    allow: config.toolAllow ?? config.webhookAllow,
    deny: config.toolDeny ?? config.webhookDeny,
    secret: config.functionSecret,
  }
}

export function toBytesSettings(config: Config): BytesSettings {
  const { s3Bucket, s3Endpoint, s3Region, s3AccessKeyId, s3SecretAccessKey, s3PathStyle } = config
  const keys =
    s3AccessKeyId === null || s3SecretAccessKey === null
      ? null
      : { accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey.reveal() }
  return {
    folder: join(config.dataDir, 'blobs'),
    s3:
      s3Bucket === null
        ? null
        : { bucket: s3Bucket, endpoint: s3Endpoint, region: s3Region, keys, isPathStyle: s3PathStyle },
  }
}

export function toOutsideSettings(config: Config): OutsideSettings {
  return { version: config.version, allow: config.fetchAllow }
}

export function toProviderSettings(config: Config): ProviderSettings {
  const vendor = (url: string, key: Secret | null, vendorsOwn: string) => {
    return { url, key, isConfigured: key !== null || url !== vendorsOwn }
  }
  return {
    anthropic: {
      ...vendor(config.anthropicUrl, config.anthropicApiKey, anthropicUrl),
      version: config.anthropicVersion,
    },
    openai: {
      ...vendor(config.openaiUrl, config.openaiApiKey, openaiUrl),
      form: config.openaiForm,
      images: config.openaiImages,
    },
    gemini: vendor(config.geminiUrl, config.geminiApiKey, geminiUrl),
    kapa: vendor(config.kapaUrl, config.kapaApiKey, kapaUrl),
    builtin: { url: config.builtinUrl, key: config.builtinApiKey, model: config.builtinModel },
    maxTokens: config.agentMaxTokens,
  }
}

/** Null where tracing is off. */
export function toTraceSettings(config: Config): TraceSettings | null {
  const { otlpEndpoint: endpoint, otlpHeaders: headers, otelServiceName: serviceName, otelRatio: ratio } = config
  return endpoint === null ? null : { endpoint, headers, serviceName, ratio }
}
