import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { readConfig, settings } from '../../src/config/config.ts'
import { createDirectory, startProgram } from '../support/process.ts'

test('without any variable every setting has a value, and nobody can change it', () => {
  const config = readConfig({})

  expect(config).toMatchObject({ port: 8080, host: null, dataDir: '.data', databaseUrl: null, apiVersion: '32.1.0' })
  const { sources, providers, ...values } = config
  const all = [values, ...Object.values(providers)].flatMap(group => Object.values(group))
  expect(all).toHaveLength(settings.length)
  expect(all).not.toContain(undefined)
  expect(sources.size).toBe(0)
  expect(Object.isFrozen(config)).toBe(true)
})

test('a variable without a value means the same as none', () => {
  const config = readConfig({ PORT: '', DATABASE_URL: '' })

  expect(config).toMatchObject({ port: 8080, databaseUrl: null })
})

test('a secret is seen only by whoever asks for it by name', () => {
  const { databaseUrl } = readConfig({ DATABASE_URL: 'postgres://parley:hidden@localhost/parley' })

  expect(databaseUrl?.reveal()).toBe('postgres://parley:hidden@localhost/parley')
  expect([`${databaseUrl}`, inspect(databaseUrl), JSON.stringify(databaseUrl)]).toEqual([
    '[secret]',
    '[secret]',
    '"[secret]"',
  ])
})

test.each([
  ['PUBLIC_URL', 'https://ann:secret@chat.example'],
  ['PUBLIC_URL', 'https://chat.example/parley?x'],
  ['PUBLIC_URL', 'https://chat.example#y'],
  ['CORS_ORIGINS', 'app.example'],
  ['CORS_ORIGINS', 'https://app.example/'],
  ['CORS_ORIGINS', 'https://app.example, null'],
])('%s that can never work is refused: %s', (name, value) => {
  expect(() => readConfig({ [name]: value })).toThrow(name)
})

test.each([
  [{ S3_ACCESS_KEY_ID: 'id' }],
  [{ S3_SECRET_ACCESS_KEY: 'secret' }],
  [{ TLS_CERT_FILE: import.meta.filename }],
  [{ TLS_KEY_FILE: import.meta.filename }],
])('half of a pair is refused: %j', half => {
  expect(() => readConfig(half)).toThrow('must be set together')
})

const rsa = (bits: number) => generateKeyPairSync('rsa', { modulusLength: bits })
const pemOf = (key: KeyObject) => key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' })
const secret = 'x'.repeat(32)

test.each([
  [
    'a key set without an issuer',
    { AUTH_JWKS_URL: 'https://id.example/keys', AUTH_AUDIENCE: 'parley' },
    'needs AUTH_ISSUER',
  ],
  ['a key set without an audience', { AUTH_JWKS_URL: 'https://id.example/keys', AUTH_ISSUER: 'x' }, 'AUTH_AUDIENCE'],
  ['a key set that is no URL', { AUTH_JWKS_URL: 'id.example/keys' }, 'AUTH_JWKS_URL must be an http or https URL'],
  ['two kinds of keys', { AUTH_SECRET: secret, AUTH_PUBLIC_KEY: pemOf(rsa(2048).publicKey) }, 'Only one of'],
  ['an issuer without keys', { AUTH_ISSUER: 'x' }, 'AUTH_ISSUER needs AUTH_JWKS_URL, AUTH_SECRET or AUTH_PUBLIC_KEY'],
  ['a switch without keys', { AUTH_CREATE: 'true' }, 'AUTH_CREATE needs'],
  ['a secret that can be guessed', { AUTH_SECRET: 'secret' }, 'AUTH_SECRET must have at least 32 characters'],
  ['a public key as a secret', { AUTH_SECRET: pemOf(rsa(2048).publicKey) }, 'belongs in AUTH_PUBLIC_KEY'],
  ['a private key', { AUTH_PUBLIC_KEY: pemOf(rsa(2048).privateKey) }, 'the private one stays with the host'],
  ['a key that is too short', { AUTH_PUBLIC_KEY: pemOf(rsa(1024).publicKey) }, 'RSA of at least 2048 bits'],
  ['a key that is none', { AUTH_PUBLIC_KEY: 'key' }, 'AUTH_PUBLIC_KEY must be a public key, in PEM'],
])('sign-in by %s ends the start, with a sentence', (_, environment, sentence) => {
  expect(() => readConfig(environment as NodeJS.ProcessEnv)).toThrow(sentence)
})

test('both of a pair, or neither, are taken', () => {
  const keys = readConfig({ S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' })
  const files = readConfig({ TLS_CERT_FILE: import.meta.filename, TLS_KEY_FILE: import.meta.filename })

  expect([keys.s3AccessKeyId, keys.tlsKeyFile]).toEqual(['id', null])
  expect([files.s3AccessKeyId, files.tlsKeyFile]).toEqual([null, import.meta.filename])
})

test.each([
  ['SESSION_BACKLOG_KB', '64', true],
  ['SESSION_BACKLOG_KB', '63', false],
  ['DATABASE_CONNECTIONS', '500', true],
  ['DATABASE_CONNECTIONS', '501', false],
  ['DATABASE_CONNECTIONS', '0', false],
  ['DATABASE_CONNECTIONS', '1.5', false],
])('%s of %s is within its bounds: %s', (name, value, expected) => {
  if (expected) expect(() => readConfig({ [name]: value })).not.toThrow()
  else expect(() => readConfig({ [name]: value })).toThrow(`${name} must be a whole number from`)
})

test('an address may have a path, and an origin may be of an app', () => {
  const config = readConfig({
    PUBLIC_URL: 'https://chat.example:8443/parley/',
    CORS_ORIGINS: 'https://app.example, http://localhost:3000, capacitor://localhost, *',
  })

  expect(config.publicUrl).toBe('https://chat.example:8443/parley')
  expect(config.corsOrigins).toEqual(['https://app.example', 'http://localhost:3000', 'capacitor://localhost', '*'])
})

test.each([
  ['DATABSE_URL', 'DATABASE_URL'],
  ['DATABASE_URI', 'DATABASE_URL'],
  ['DATABASEURL', 'DATABASE_URL'],
  ['database_url', 'DATABASE_URL'],
  ['REDIS_URI', 'REDIS_URL'],
  ['S3_BUCKT', 'S3_BUCKET'],
  ['S3_ACCESS_KEYID', 'S3_ACCESS_KEY_ID'],
  ['API_KEYS', 'API_KEY'],
  ['APIKEY', 'API_KEY'],
  ['API_KYE', 'API_KEY'],
  ['PROT', 'PORT'],
  ['SECRET_KEY', 'SECRET_KEYS'],
  ['CORS_ORIGIN', 'CORS_ORIGINS'],
  ['TRUST_PROXIES', 'TRUST_PROXY'],
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['SESSIONS_PER_USR', 'SESSIONS_PER_USER'],
  ['OPEN_AI_API_KEY', 'OPENAI_API_KEY'],
  ['OTEL_EXPORTER_OTLP_ENPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  ['AUTH_JWKS_URI', 'AUTH_JWKS_URL'],
  ['AUTH_JWK_URL', 'AUTH_JWKS_URL'],
  ['AUTH_ISSUERS', 'AUTH_ISSUER'],
  ['AUTH_AUDIANCE', 'AUTH_AUDIENCE'],
  ['AUTH_SECRETS', 'AUTH_SECRET'],
  ['AUTH_PUBLICKEY', 'AUTH_PUBLIC_KEY'],
  ['AUTH_UID_CLAIMS', 'AUTH_UID_CLAIM'],
])('%s, which reads like %s, ends the start', (name, meant) => {
  const sentence = `${name} is not a setting; did you mean ${meant}?`

  expect(() => readConfig({ [name]: 'x' })).toThrow(sentence)
  // What must be there for another program can be given no value here.
  expect(() => readConfig({ [name]: '' })).not.toThrow()
})

test('each letter that is left out of a long setting, or swapped with the next, is noticed', () => {
  for (const { name } of settings) {
    for (let i = 0; name.length > 8 && i < name.length - 1; i++) {
      const slips = [name.slice(0, i) + name.slice(i + 1), name.slice(0, i) + name[i + 1] + name[i] + name.slice(i + 2)]
      for (const slip of slips) {
        if (slip !== name) expect(() => readConfig({ [slip]: 'x' }), slip).toThrow(`${slip} is not a setting`)
      }
    }
  }
})

/** What shells, desktops, systemd, containers, Kubernetes, builds and other programs leave in an environment. */
const ordinary = `
  PATH HOME USER LOGNAME SHELL PWD OLDPWD SHLVL TERM COLORTERM LANG LANGUAGE LC_ALL LC_CTYPE TZ EDITOR VISUAL PAGER LESS
  LS_COLORS MAIL HOSTNAME HOSTTYPE OSTYPE MACHTYPE DISPLAY WAYLAND_DISPLAY XAUTHORITY SSH_AUTH_SOCK SSH_CLIENT
  SSH_CONNECTION SSH_TTY SUDO_USER SUDO_UID SUDO_GID SUDO_COMMAND TMPDIR TMP TEMP UID GID GROUP HISTFILE HISTSIZE PS1 _
  XDG_SESSION_ID XDG_SESSION_TYPE XDG_SESSION_CLASS XDG_RUNTIME_DIR XDG_DATA_DIRS XDG_CONFIG_DIRS XDG_DATA_HOME
  XDG_CURRENT_DESKTOP DESKTOP_SESSION GDMSESSION SESSION_MANAGER SESSION DBUS_SESSION_BUS_ADDRESS GNOME_KEYRING_CONTROL
  WINDOWID VTE_VERSION TERM_PROGRAM TERM_PROGRAM_VERSION TMUX STY WSL_DISTRO_NAME WSLENV NAME
  INVOCATION_ID JOURNAL_STREAM MAINPID MANAGERPID SYSTEMD_EXEC_PID LISTEN_PID LISTEN_FDS LISTEN_FDNAMES NOTIFY_SOCKET
  WATCHDOG_USEC WATCHDOG_PID STATE_DIRECTORY CACHE_DIRECTORY LOGS_DIRECTORY CONFIGURATION_DIRECTORY RUNTIME_DIRECTORY
  CREDENTIALS_DIRECTORY MEMORY_PRESSURE_WATCH SERVICE_RESULT EXIT_CODE EXIT_STATUS
  KUBERNETES_PORT KUBERNETES_PORT_443_TCP KUBERNETES_PORT_443_TCP_ADDR KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT
  KUBERNETES_SERVICE_PORT_HTTPS PARLEY_PORT PARLEY_PORT_8080_TCP PARLEY_PORT_8080_TCP_PROTO PARLEY_SERVICE_HOST
  PARLEY_SERVICE_PORT PARLEY_SERVICE_PORT_HTTP PARLEY_ENV_VERSION PARLEY_NAME REDIS_PORT REDIS_HOST REDIS_SERVICE_HOST
  REDIS_SERVICE_PORT REDIS_PORT_6379_TCP REDIS_PASSWORD REDIS_TLS_URL DATABASE_PORT DATABASE_HOST DATABASE_NAME
  DATABASE_USER DATABASE_PASSWORD DATABASE_SERVICE_HOST POSTGRES_PORT POSTGRES_USER POSTGRES_DB POSTGRES_PASSWORD
  POSTGRES_URL DB_URL DB_HOST DB_PORT HOST_IP HOST_NAME POD_NAME POD_IP POD_NAMESPACE NODE_NAME NODE_IP NAMESPACE
  PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD PGDATA PGSSLMODE PGAPPNAME
  NODE NODE_ENV NODE_OPTIONS NODE_PATH NODE_VERSION NODE_EXTRA_CA_CERTS YARN_VERSION NPM_CONFIG_LOGLEVEL INIT_CWD COLOR
  npm_config_loglevel npm_config_registry npm_config_user_agent npm_config_cache npm_lifecycle_event npm_package_name
  npm_package_version npm_command npm_execpath npm_node_execpath NVM_DIR NVM_BIN PNPM_HOME VOLTA_HOME BUN_INSTALL
  FORCE_COLOR NO_COLOR CI DEBUG CLICOLOR UV_THREADPOOL_SIZE UV_USE_IO_URING
  LOG_FORMAT LOG_FILE LOG_DIR LOG_PATH LOG_COLOR LOG_TIMESTAMP LOG_OUTPUT
  AWS_REGION AWS_DEFAULT_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AWS_ROLE_ARN
  AWS_WEB_IDENTITY_TOKEN_FILE AWS_EXECUTION_ENV AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_ENDPOINT_URL ECS_AGENT_URI
  AWS_ENDPOINT_URL_S3 R2_ENDPOINT R2_ACCESS_KEY_ID MINIO_ENDPOINT GOOGLE_APPLICATION_CREDENTIALS GCP_PROJECT
  AZURE_CLIENT_ID AZURE_TENANT_ID K_SERVICE K_REVISION FLY_APP_NAME FLY_REGION DYNO HEROKU_APP_NAME RENDER RAILWAY_STATIC_URL
  HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR SSL_KEY_FILE
  CURL_CA_BUNDLE REQUESTS_CA_BUNDLE container CONTAINER DOCKER_HOST COMPOSE_PROJECT_NAME
  GITHUB_ACTIONS GITHUB_TOKEN GITHUB_SHA GITHUB_API_URL RUNNER_OS GITLAB_CI CI_COMMIT_SHA CI_API_V4_URL JENKINS_URL
  BUILD_ID BUILD_NUMBER BUILD_URL JOB_NAME WORKSPACE AGENT AGENT_ID AGENT_NAME AGENT_VERSION AGENT_OS AGENT_WORKFOLDER
  name version src out system builder stdenv buildInputs
  OTEL_SERVICE_VERSION OTEL_RESOURCE_ATTRIBUTES OTEL_TRACES_SAMPLER OTEL_TRACES_EXPORTER OTEL_METRICS_EXPORTER
  OTEL_LOGS_EXPORTER OTEL_LOG_LEVEL OTEL_EXPORTER_OTLP_PROTOCOL OTEL_EXPORTER_OTLP_TIMEOUT OTEL_PROPAGATORS
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT OTEL_EXPORTER_OTLP_METRICS_ENDPOINT OTEL_EXPORTER_OTLP_TRACES_HEADERS
  OTEL_SDK_DISABLED OTEL_EXPORTER_ZIPKIN_ENDPOINT
  OPENAI_BASE_URL OPENAI_ORG_ID OPENAI_MODEL ANTHROPIC_BASE_URL ANTHROPIC_MODEL GOOGLE_API_KEY GEMINI_MODEL
  APP_KEY APP_URL APP_NAME APP_ENV BASE_URL SECRET_KEY_BASE JWT_SECRET SESSION_SECRET ADMIN_EMAIL ADMIN_PASSWORD
  SENTRY_DSN PUPPETEER_EXECUTABLE_PATH CHROMIUM PAGE_PORT KAFKA_URL MONGO_URL RABBITMQ_URL SMTP_HOST SMTP_PORT MAIL_HOST
  WEB_CONCURRENCY MALLOC_ARENA_MAX LD_LIBRARY_PATH LD_PRELOAD PYTHONPATH JAVA_HOME GOPATH CARGO_HOME MANPATH INFOPATH
`
  .split(/\s+/)
  .filter(Boolean)

test('what environments ordinarily have is not taken for a setting', () => {
  expect(new Set(ordinary).size).toBeGreaterThan(300)
  for (const name of ordinary) expect(() => readConfig({ [name]: 'x' }), name).not.toThrow('did you mean')
})

test('every setting says its name, its default and what it is for, once', () => {
  const rows = settings

  expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
  for (const { name, meaning } of rows) {
    expect(name).toMatch(/^[A-Z][A-Z0-9_]+$/)
    expect(meaning).toMatch(/^[A-Z].{9}/)
  }
})

test('the file .env is read, and the real environment goes before it', async () => {
  await using dir = createDirectory()
  writeFileSync(join(dir.path, '.env'), 'VERSION=1.2.3\nLOG_LEVEL=debug\n')

  await using program = await startProgram(dir, { LOG_LEVEL: 'error' })

  expect(await (await fetch(`${program.url}/version`)).text()).toBe('1.2.3')
  expect(program.output()).not.toContain('"level":"debug"')
})
