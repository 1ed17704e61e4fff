import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { apart } from './apart.ts'

/** What `npm start` runs, wherever it is run from. */
const root = join(import.meta.dirname, '..')
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: { start: string } }
const startArgs = scripts.start.replace('exec node ', '').split(' ')
const main = join(root, startArgs.pop()!)

interface NodeOptions {
  /** Where it runs and keeps its data. */
  dir: string
  /** More arguments for Node.js. */
  nodeArgs: string[]
  environment: Record<string, string>
}

/** One node: the real server in a process of its own. */
export class NodeProcess {
  readonly port: number
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
  }

  /** Resolves when it listens. */
  static async start({ dir, nodeArgs, environment }: NodeOptions): Promise<NodeProcess> {
    const child = spawn(process.execPath, [...startArgs, ...nodeArgs, main], {
      ...apart,
      cwd: dir,
      env: {
        PATH: process.env.PATH,
        HOST: '127.0.0.1',
        PORT: '0',
        DATA_DIR: dir,
        LOG_LEVEL: 'warn',
        // A measured user sends what thousands of people do.
        RATE_LIMIT_PER_MINUTE: '0',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    // It is in a session of its own, and would outlive a bench that fails before it listens.
    const end = () => child.kill('SIGTERM')
    process.once('exit', end)
    child.once('exit', () => process.off('exit', end))
    return new NodeProcess(child, await listening(child))
  }

  get pid(): number {
    return this.#child.pid!
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Ends it as an operator would, so that the database is shut down and profiles are written. */
  async stop(): Promise<void> {
    const child = this.#child
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise(resolve => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }
}

function listening(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = ''
    child.stdout!.on('data', (chunk: Buffer) => {
      output += chunk
      const port = /listens on \S+:(\d+)/.exec(output)?.[1]
      if (port !== undefined) resolve(Number(port))
    })
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`The server ended with ${code} before it listened: ${output}`)))
  })
}
