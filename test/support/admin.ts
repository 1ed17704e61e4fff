import { join } from 'node:path'
import { launchProgram, type TemporaryDirectory } from './process.ts'

const main = join(import.meta.dirname, '../../src/cli/admin.ts')

/** Runs a command of `npm run admin` to its end, with these settings and nothing else of our environment. */
export async function runAdmin(
  dir: TemporaryDirectory,
  environment: Record<string, string>,
  ...args: string[]
): Promise<{ code: number | NodeJS.Signals; output: string }> {
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', main, ...args]
  await using program = launchProgram(dir, environment, { command })
  return { code: await program.ended, output: program.output() }
}
