import { fork, type ChildProcess } from 'node:child_process'

/**
 * Starts a process in a session of its own, as services are. Linux divides processors between sessions first (its
 * "autogroup"), and PostgreSQL makes one for each of its connections: a server that shares one with the generator of its
 * load has half the weight of a single connection of its database, which then interrupts it. Such a process hears no
 * Ctrl-C: whoever started it ends it.
 */
export const apart = { detached: true } as const

/** Another process of the bench, apart. */
export function forkApart(module: string): ChildProcess {
  return fork(module, { ...apart, execArgv: ['--disable-warning=ExperimentalWarning'] })
}

/** For processes with a channel to whoever started them: they end with it. */
export function endWithParent(): void {
  process.once('disconnect', () => process.exit())
}
