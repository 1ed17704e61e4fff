import '../require-runtime.ts'
import { createReadStream, createWriteStream, existsSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readConfig, readEnvironment, type Config } from '../config/config.ts'
import { StartFault } from '../lib/errors.ts'
import { runAsCommand } from '../lib/process/lifetime.ts'
import { createLog, type Log } from '../lib/log.ts'
import { Teardown } from '../lib/process/teardown.ts'
import { toBytesSettings } from '../config/part-options.ts'
import { requireUnusedFolder } from '../bytes/blob-folder.ts'
import { ArchiveWriter } from './backup/archive.ts'
import { backUp } from './backup/backup.ts'
import { restore } from './backup/restore.ts'
import { check } from './check/check.ts'
import { openDeployment, openNew } from './deployment.ts'
import { describeKey, KeyOffice } from './keys.ts'
import { Progress } from './progress.ts'

const usage = `npm run admin -- COMMAND, with the environment or .env of npm start

  backup [--without-files] FILE|DIR|-   everything that is kept, while the nodes go on, as a tar file; DIR: named by the time
  restore [--moved] FILE|-              loads a backup into a new DATA_DIR or an empty DATABASE_URL
                                        --moved: nothing was written after it, so ids go on without a gap

  check [--repair] [--without-files]    compares counters, markers and files with what they are derived from, while the
                                        nodes go on; --repair sets them right, while no node runs
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
    version: config.version,
    progress,
  })
  if (file !== null) renameSync(draft, file)
  for (const key of missing) progress.say(`A file whose bytes are missing is not in the backup: ${key}`)
  progress.say(`${file ?? 'The backup'} holds ${rows} rows and ${withFiles ? `${count} files` : 'no files'}`)
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

async function runKeys({ args, config, log, teardown }: CommandParts): Promise<void> {
  const { values, positionals } = read(args, { days: { type: 'string' } })
  const [action, given = ''] = positionals
  requireCount(positionals, action === 'list' ? 1 : 2)
  const days = values.days === undefined ? null : Number(values.days)
  if (days !== null && !(days > 0 && days <= 36_500)) throw new StartFault('--days takes a number of days above 0.')
  if (given.length > 256) throw new StartFault('The name of a key has at most 256 characters.')
  if (action === 'revoke' && !/^\d{1,15}$/.test(given))
    throw new StartFault('keys revoke takes an id, as keys list shows it.')
  if (!['create', 'list', 'revoke'].includes(action!)) throw new StartFault(usage)
  const { url } = await openDeployment({ config, log, teardown })
  const keys = await KeyOffice.open(url, log)
  teardown.add('connections', () => keys.close())
  if (action === 'create') process.stdout.write(`${await keys.create(given, days)}\n`)
  else if (action === 'revoke') await keys.revoke(Number(given))
  else for (const key of await keys.list()) process.stdout.write(`${describeKey(key)}\n`)
}

/** The file of a backup: in a folder, a name that sorts by time. StartFault where it exists. */
function toFile(path: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  const file = isFolder ? join(path, `parley-${time}.tar`) : path
  if (existsSync(file)) throw new StartFault(`${file} is there already. Name another file, or remove it.`)
  return file
}

function read(args: string[], options: Record<string, { type: 'boolean' | 'string' }>) {
  try {
    return parseArgs({ args, options, allowPositionals: true })
  } catch (error) {
    throw new StartFault(`${(error as Error).message}\n\n${usage}`)
  }
}

function requireCount(positionals: string[], count: number): string[] {
  if (positionals.length !== count) throw new StartFault(usage)
  return positionals
}

if (import.meta.main) {
  await runAsCommand(async stopped => {
    const [name = '', ...args] = process.argv.slice(2)
    const command = commands[name]
    if (command === undefined) throw new StartFault(usage)
    const config = readConfig(readEnvironment())
    const log = createLog('warn')
    const teardown = new Teardown(log)
    try {
      await Promise.race([command({ args, config, log, teardown, progress: new Progress() }), stopped])
    } finally {
      await teardown.run(config.drainSeconds * 1000)
    }
  })
}
