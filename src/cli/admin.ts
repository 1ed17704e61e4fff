import '../require-runtime.ts'
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { readConfig, readEnvironment, type Config } from '../config/config.ts'
import { productVersion } from '../config/product-version.ts'
import { StartFault } from '../lib/errors.ts'
import { keyFileOf, readKeyFile } from '../lib/data/key-file.ts'
import { readArguments } from '../lib/process/arguments.ts'
import { suggestion } from '../lib/text/resemblance.ts'
import { runAsCommand } from '../lib/process/lifetime.ts'
import { createLog, type Log } from '../lib/log.ts'
import { logWriter } from '../lib/log-text.ts'
import { Teardown } from '../lib/process/teardown.ts'
import { toBytesSettings, toUploadRoomSettings } from '../config/part-options.ts'
import { requireUnusedFolder } from '../bytes/blob-folder.ts'
import { ArchiveWriter } from './backup/archive.ts'
import { backUp } from './backup/backup.ts'
import { restore } from './backup/restore.ts'
import { check } from './check/check.ts'
import { openDeployment, openNew } from './deployment.ts'
import { describeKey, KeyOffice } from './keys.ts'
import { Progress } from './progress.ts'
import { UploadRoom } from '../resources/blobs/uploads/room.ts'
import { exportLines } from './transfer/export/export.ts'
import { converters } from './transfer/from/converters.ts'
import { importLines } from './transfer/import/import.ts'
import { readLines, type Numbered } from './transfer/lines.ts'
import { isInterruption } from '../postgres/unavailable.ts'

const usage = `npm run admin -- COMMAND, with the environment or .env of npm start

  backup [--without-files] FILE|DIR|-   everything that is kept, while the nodes go on, as a tar file; DIR: named by the time
  restore [--moved] FILE|-              loads a backup into a new DATA_DIR or an empty DATABASE_URL
                                        --moved: nothing was written after it, so ids go on without a gap

  check [--repair] [--without-files]    compares counters, markers and files with what they are derived from, while the
                                        nodes go on; --repair sets them right, while no node runs
  export [--app ID] [--user ID] FILE|-  users, apps and what was written, as lines of JSON, while the nodes go on; of one app
                                        or one user, by id or uid: see docs/moving-data.md
  import [--dry-run] FILE|-             adds such lines to a deployment, while no node runs; what is there is passed over
         [--from slack|stream] PATH     takes an export of Slack (a folder or zip file) or of Stream instead
  keys create NAME [--days N]           makes an API key, and prints it this once
  keys list                             shows what is known of the keys
  keys revoke ID                        ends a key for good, on all nodes

With - it is standard output or input: npm run --silent admin -- backup - | ...
`

interface CommandParts {
  args: string[]
  config: Config
  log: Log
  teardown: Teardown
  progress: Progress
}

const commands: Record<string, (parts: CommandParts) => Promise<void>> = {
  backup: runBackup,
  restore: runRestore,
  check: runCheck,
  export: runExport,
  import: runImport,
  keys: runKeys,
}

async function runBackup({ args, config, log, teardown, progress }: CommandParts): Promise<void> {
  const { values, positionals } = read(args, { 'without-files': { type: 'boolean' } })
  const [path] = requireCount(positionals, 1)
  const file = path === '-' ? null : toFile(path!)
  const { url, bytes } = await openDeployment({ config, log, teardown })
  const draft = `${file}.part`
  // It contains hashes of tokens and passwords, and what users wrote.
  const target = file === null ? process.stdout : createWriteStream(draft, { mode: 0o600, flush: true })
  if (file !== null) teardown.add('unfinished backup', () => rmSync(draft, { force: true }))
  const archive = new ArchiveWriter(target)
  const withFiles = values['without-files'] !== true
  const { rows, count, missing } = await backUp({
    url,
    bytes: withFiles ? bytes : null,
    archive,
    version: productVersion,
    progress,
  })
  if (file !== null) renameSync(draft, file)
  for (const key of missing) progress.say(`A file whose bytes are missing is not in the backup: ${key}`)
  progress.say(`${file ?? 'The backup'} holds ${rows} rows and ${withFiles ? `${count} files` : 'no files'}`)
  const seal = describeSeal(config)
  if (seal !== null)
    progress.say(`Secrets in it are sealed with ${seal}, without which they cannot be opened: keep a copy apart`)
}

async function runRestore({ args, config, log, teardown, progress }: CommandParts): Promise<void> {
  const { values, positionals } = read(args, { moved: { type: 'boolean' } })
  const [path] = requireCount(positionals, 1)
  if (path !== '-' && !existsSync(path!)) throw new StartFault(`There is no file ${path}.`)
  const { folder, s3 } = toBytesSettings(config)
  if (s3 === null) requireUnusedFolder(folder)
  const { url, bytes } = await openNew({ config, log, teardown })
  const source = path === '-' ? process.stdin : createReadStream(path!, { highWaterMark: 1024 * 1024 })
  const { manifest, files } = await restore({ url, bytes, source, hasLost: values.moved !== true, progress })
  progress.say(
    `Everything of ${manifest.created_at} is restored, with ${manifest.has_files ? `${files} files` : 'no files'}`,
  )
  if (!manifest.has_files)
    progress.say('The backup was made without files: they are to be where this deployment keeps them')
  if (describeSeal(config) === null)
    progress.say(
      `Secrets in it may be sealed. Before the start, copy secret.key of the original to ${keyFileOf(resolve(config.dataDir))}, ` +
        'or set SECRET_KEYS as it was there',
    )
}

async function runCheck({ args, config, log, teardown, progress }: CommandParts): Promise<void> {
  const { values, positionals } = read(args, { repair: { type: 'boolean' }, 'without-files': { type: 'boolean' } })
  requireCount(positionals, 0)
  const { url, bytes } = await openDeployment({ config, log, teardown })
  const { wrong, repaired, missing } = await check({
    url,
    bytes: values['without-files'] === true ? null : bytes,
    repairs: values.repair === true,
    progress,
  })
  const repairs = repaired > 0 ? `, ${repaired} repaired` : ''
  const summary = `${wrong} derived values are wrong${repairs}; ${missing} files are missing or damaged`
  if (wrong > repaired || missing > 0) throw new StartFault(summary)
  progress.say(summary)
}

async function runExport({ args, config, log, teardown, progress }: CommandParts): Promise<void> {
  const { values, positionals } = read(args, { app: { type: 'string' }, user: { type: 'string' } })
  const [path] = requireCount(positionals, 1)
  if (values.app !== undefined && values.user !== undefined) throw new StartFault('Give one of --app and --user.')
  const file = path === '-' ? null : toFile(path!, 'ndjson')
  const { url, bytes } = await openDeployment({ config, log, teardown })
  const draft = `${file}.part`
  const target = file === null ? process.stdout : createWriteStream(draft, { mode: 0o600, flush: true })
  if (file !== null) teardown.add('unfinished export', () => rmSync(draft, { force: true }))
  const only = { app: values.app as string | undefined, user: values.user as string | undefined }
  let count = 0
  const lines = async function* () {
    for await (const line of exportLines({ url, bytes, only, progress })) {
      count++
      yield `${JSON.stringify(line)}\n`
    }
  }
  await pipeline(lines, target, { end: file !== null })
  if (file !== null) renameSync(draft, file)
  progress.say(`${file ?? 'The export'} holds ${count} lines`)
}

async function runImport({ args, config, log, teardown, progress }: CommandParts): Promise<void> {
  const { values, positionals } = read(args, { 'dry-run': { type: 'boolean' }, from: { type: 'string' } })
  const [path] = requireCount(positionals, 1)
  if (path !== '-' && !existsSync(path!)) throw new StartFault(`There is no file ${path}.`)
  const lines = openLines(path!, values.from as string | undefined)
  const { url, bytes } = await openNew({ config, log, teardown })
  const isDryRun = values['dry-run'] === true
  const uploadRoom = new UploadRoom(toUploadRoomSettings(config))
  const { users, apps, items } = await importLines({ url, bytes, uploadRoom, lines, isDryRun, progress, log })
  progress.say(`${isDryRun ? 'Would add' : 'Added'} ${users} users, ${apps} apps and ${items} items`)
}

/** The lines of a file of ours, or of an export of another product. */
function openLines(path: string, from: string | undefined): AsyncIterable<Numbered> {
  const source = () => (path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 1024 * 1024 }))
  if (from === undefined) return readLines(source())
  const convert = converters[from]
  if (convert === undefined) throw new StartFault(toFault('source', from, Object.keys(converters)))
  return convert(path)
}

const keyActions = ['create', 'list', 'revoke']

async function runKeys({ args, config, log, teardown }: CommandParts): Promise<void> {
  const { values, positionals } = read(args, { days: { type: 'string' } })
  const [action = '', given = ''] = positionals
  if (!keyActions.includes(action)) throw new StartFault(toFault('command keys', action, keyActions))
  requireCount(positionals, action === 'list' ? 1 : 2)
  const days = values.days === undefined ? null : Number(values.days)
  if (days !== null && !(days > 0 && days <= 36_500)) throw new StartFault('--days takes a number of days above 0.')
  if (given.length > 256) throw new StartFault('The name of a key has at most 256 characters.')
  if (action === 'revoke' && !/^\d{1,15}$/.test(given))
    throw new StartFault('keys revoke takes an id, as keys list shows it.')
  const { url } = await openDeployment({ config, log, teardown })
  const keys = await KeyOffice.open(url, log)
  teardown.add('connections', () => keys.close())
  if (action === 'create') process.stdout.write(`${await keys.create(given, days)}\n`)
  else if (action === 'revoke') await keys.revoke(Number(given))
  else for (const key of await keys.list()) process.stdout.write(`${describeKey(key)}\n`)
}

/** Where the keys are that this deployment seals secrets with; null without any. */
function describeSeal({ secretKeys, dataDir }: Config): string | null {
  if (secretKeys.length > 0) return 'SECRET_KEYS'
  const path = keyFileOf(resolve(dataDir))
  return readKeyFile(path).length > 0 ? `the key in ${path}` : null
}

/** The file of a backup or export: in a folder, a name that sorts by time. StartFault where it exists. */
function toFile(path: string, extension = 'tar'): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  const file = isFolder ? join(path, `parley-${time}.${extension}`) : path
  if (existsSync(file)) throw new StartFault(`${file} is there already. Name another file, or remove it.`)
  return file
}

function read(args: string[], options: Record<string, { type: 'boolean' | 'string' }>) {
  return readArguments({ args, options, allowPositionals: true }, usage)
}

/** What is said of a word that is none of `known`; the usage alone where there is no word. */
function toFault(noun: string, given: string, known: readonly string[]): string {
  return given === '' ? usage : `There is no ${noun} ${given}.${suggestion(given, known)}\n\n${usage}`
}

function requireCount(positionals: string[], count: number): string[] {
  if (positionals.length !== count) throw new StartFault(usage)
  return positionals
}

if (import.meta.main) {
  await runAsCommand(async stopped => {
    const [name = '', ...args] = process.argv.slice(2)
    const command = commands[name]
    if (command === undefined) throw new StartFault(toFault('command', name, Object.keys(commands)))
    const config = readConfig(readEnvironment())
    const log = createLog('warn', logWriter(config.logFormat))
    const teardown = new Teardown(log)
    try {
      await Promise.race([command({ args, config, log, teardown, progress: new Progress() }), stopped])
    } catch (error) {
      if (!isInterruption(error)) throw error
      const reason = (error as Error).message
      throw new StartFault(`PostgreSQL has interrupted the command: ${reason}. Run it again.`, { cause: error })
    } finally {
      await teardown.run(config.drainSeconds * 1000)
    }
  })
}
