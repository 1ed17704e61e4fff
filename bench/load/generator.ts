import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { forkApart } from '../apart.ts'
import { setYielding } from '../yielding.ts'
import type { FromLoad, Job, LastingJob, Result, ToLoad } from './process.ts'
import type { Notify } from './recorder.ts'

/** The process that makes the load, as its parent sees it. Started once, ended by `stop`; runs one job at a time. */
export class Generator {
  readonly #child: ChildProcess

  constructor() {
    this.#child = forkApart(join(import.meta.dirname, 'process.ts'))
  }

  get pid(): number {
    return this.#child.pid!
  }

  /** Runs a job to its end. `hear` is told when what is measured begins and ends, and how far it is. */
  run<Kind extends Exclude<Job, LastingJob>>(job: Kind, hear: Notify = () => {}): Promise<Result<Kind>> {
    return this.#ask(job, hear) as Promise<Result<Kind>>
  }

  /** Holds WebSockets open, or floods, while `during` runs. */
  async hold<Kind extends LastingJob>(job: Kind, during: () => Promise<void>): Promise<Result<Kind>> {
    const { promise: held, resolve: isHeld } = Promise.withResolvers<void>()
    const over = this.#ask(job, notice => notice === 'started' && isHeld())
    await Promise.race([held, over])
    await during()
    this.#tell({ release: true })
    return (await over) as Result<Kind>
  }

  stop(): void {
    this.#child.kill('SIGKILL')
  }

  #ask(job: Job, hear: Notify): Promise<unknown> {
    setYielding(this.pid, job.kind === 'exchange' || job.kind === 'flood')
    return new Promise((resolve, reject) => {
      const settle = (done: () => void) => {
        this.#child.off('message', take).off('exit', exited)
        done()
      }
      const exited = () => settle(() => reject(new Error('The load generator ended')))
      const take = (message: FromLoad) => {
        if ('notice' in message) hear(message.notice)
        else if ('error' in message) settle(() => reject(new Error(message.error)))
        else settle(() => resolve(message.result))
      }
      this.#child.on('message', take).on('exit', exited)
      this.#tell({ job })
    })
  }

  #tell(message: ToLoad): void {
    this.#child.send(message)
  }
}
