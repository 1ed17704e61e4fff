import { z } from 'zod'
import { file, integer, origins, plainUrl, ranges, secret, setting, text, yesOrNo } from '../setting.ts'

/** What clients reach: the port, requests, the administration page, realtime connections. */
export const serverSettings = {
  port: setting('PORT', '8080', integer(0, 65_535), 'Port for HTTP and WebSocket; 0 takes any free one'),
  host: setting('HOST', null, text, 'Address to listen on; without it, all addresses'),
  publicUrl: setting(
    'PUBLIC_URL',
    null,
    plainUrl,
    'Address under which clients reach this server, for absolute URLs; without it, what each request says, and localhost for webhooks',
  ),
  tlsCertFile: setting('TLS_CERT_FILE', null, file, 'Certificate chain (PEM) to serve HTTPS with'),
  tlsKeyFile: setting('TLS_KEY_FILE', null, file, 'Private key (PEM) of that certificate'),
  trustProxy: setting('TRUST_PROXY', 'false', yesOrNo, 'Whether X-Forwarded-For and X-Forwarded-Proto are believed'),
  corsOrigins: setting('CORS_ORIGINS', '*', origins, 'Origins, separated by commas, whose pages may call; * for all'),
  bodyLimitMb: setting('BODY_LIMIT_MB', '4', integer(1, 64), 'Size of a JSON body, in MiB'),
  bodySeconds: setting('BODY_SECONDS', '30', integer(1, 600), 'Time that a request may take to arrive'),
  ratePerMinute: setting(
    'RATE_LIMIT_PER_MINUTE',
    '3000',
    integer(0, 1_000_000),
    'Requests of one user, with any access token; 0 for no limit. API keys have none',
  ),
  mcp: setting(
    'MCP',
    'on',
    z.enum(['on', 'read-only', 'off'], 'must be on, read-only or off'),
    'Whether there is the MCP server at /mcp, and whether its tools may write',
  ),
  upsertsJoin: setting(
    'UPSERTS_JOIN',
    'true',
    yesOrNo,
    'Whether a caller who upserts the uid of an app that was made by upsert becomes a member of it',
  ),
  demoUrl: setting(
    'DEMO_URL',
    null,
    plainUrl,
    'Address of a demo, for the first page to lead to; npm run demo sets it',
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
} as const
