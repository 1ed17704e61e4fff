import { databaseUrl, integer, secret, secretKeys, setting, text, url, yesOrNo } from '../setting.ts'

/** Where everything is kept, how nodes meet, and for how long what is kept. */
export const storageSettings = {
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
  diskFloorMb: setting(
    'DISK_FLOOR_MB',
    '256',
    integer(0, 1_000_000_000),
    'Free space that uploads leave on the disk of DATA_DIR, in MiB: with less, they are refused; 0 for none',
  ),
  storageQuotaMb: setting(
    'STORAGE_QUOTA_MB',
    '0',
    integer(0, 1_000_000_000),
    'Space for the uploads of one user, in MiB; 0 for no limit',
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
  secretKeys: setting(
    'SECRET_KEYS',
    '',
    secretKeys,
    'Keys (32 bytes, base64) that seal secrets of webhooks and tools: the first seals, all open; without it, DATA_DIR/secret.key',
  ),
} as const
