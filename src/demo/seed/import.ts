import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { writeHistory } from './history.ts'

/** Fills a new data folder with days of history, as a company that moves here would: no node runs yet. */
export async function importHistory(dataDir: string): Promise<void> {
  if (existsSync(dataDir)) return
  const program = join(import.meta.dirname, '../../cli/admin.ts')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, 'import', '-'], {
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { ...process.env, DATA_DIR: dataDir, LOG_LEVEL: 'warn' },
  })
  child.stdin.end(await writeHistory())
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error('The history of the demo could not be imported.')
}
