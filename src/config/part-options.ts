import { join } from 'node:path'
import type { ProviderSettings } from '../agents/providers/table.ts'
import type { UploadRoomSettings } from '../resources/blobs/uploads/room.ts'
import type { Config } from './config.ts'
import { productVersion } from './product-version.ts'
import type { HttpServerSettings } from '../http/server/server.ts'
import type { OutsideSettings } from '../egress/outside.ts'
import type { Secret } from '../lib/secret.ts'
import type { TraceSettings } from '../monitoring/traces.ts'
import { realtimeDefaults, type RealtimeSettings } from '../realtime/settings.ts'
import type { HostSettings } from '../resources/auth/host-tokens.ts'
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
    version: config.apiVersion,
    productVersion,
    demoUrl: config.demoUrl,
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
    databaseConnections: config.databaseConnections,
    ratePerMinute: config.ratePerMinute === 0 ? null : config.ratePerMinute,
  }
}

/** Null where tokens of a host are not accepted. */
export function toHostSettings(config: Config): HostSettings | null {
  const { authJwksUrl: url, authJwksSeconds: periodSeconds, authSecret: secret, authPublicKey: pem } = config
  const keys = url !== null ? { url, periodSeconds } : secret !== null ? { secret } : pem !== null ? { pem } : null
  if (keys === null) return null
  return {
    keys,
    issuer: config.authIssuer,
    audience: config.authAudience,
    maxSeconds: config.authMaxHours * 3600,
    creates: config.authCreate,
    claims: {
      uid: config.authUidClaim,
      name: config.authNameClaim,
      email: config.authEmailClaim,
      picture: config.authPictureClaim,
      directories: config.authDirectoriesClaim,
    },
  }
}

export function toDeliverySettings(config: Config): DeliverySettings {
  return {
    version: config.apiVersion,
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
    version: config.apiVersion,
    allow: config.toolAllow ?? config.webhookAllow,
    deny: config.toolDeny ?? config.webhookDeny,
    secret: config.functionSecret,
  }
}

export function toUploadRoomSettings(config: Config): UploadRoomSettings {
  const { folder, s3 } = toBytesSettings(config)
  return {
    folder: s3 === null ? folder : null,
    floorBytes: config.diskFloorMb * 1024 * 1024,
    quotaBytes: config.storageQuotaMb === 0 ? null : config.storageQuotaMb * 1024 * 1024,
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
  return { version: config.apiVersion, allow: config.fetchAllow }
}

export function toProviderSettings({ providers, agentMaxTokens }: Config): ProviderSettings {
  const entries = Object.entries(providers).map(([id, { key, url, ...own }]) => {
    // Read by the schemas of these two settings.
    return [id, { key: key as Secret | null, url: url as string | null, own }] as const
  })
  return { byId: Object.fromEntries(entries), maxTokens: agentMaxTokens }
}

/** Null where tracing is off. */
export function toTraceSettings(config: Config): TraceSettings | null {
  const { otlpEndpoint: endpoint, otlpHeaders: headers, otelServiceName: serviceName, otelRatio: ratio } = config
  return endpoint === null ? null : { endpoint, headers, serviceName, ratio }
}
