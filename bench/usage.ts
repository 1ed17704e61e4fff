import { readdirSync, readFileSync } from 'node:fs'

/** Processor seconds since a process started, and with it all that it has waited for. Linux only. */
export interface Usage {
  serverSeconds: number
  databaseSeconds: number
  loadSeconds: number
  /** All processes of the machine together, and its cores' idle time. */
  busySeconds: number
  idleSeconds: number
}

/** Ids of the processes that are told apart. */
export interface Measured {
  servers: number[]
  postmaster: number | null
  load: number
}

/** What the processes have used so far. */
export function readUsage({ servers, postmaster, load }: Measured): Usage {
  return {
    serverSeconds: servers.reduce((sum, server) => sum + readSeconds(server).own, 0),
    databaseSeconds: postmaster === null ? 0 : readTreeSeconds(postmaster),
    loadSeconds: readSeconds(load).own,
    ...readMachineSeconds(),
  }
}

/** Of server and database together, which is what an operation costs. */
export function costSeconds({ serverSeconds, databaseSeconds }: Usage): number {
  return serverSeconds + databaseSeconds
}

export function usageBetween(before: Usage, after: Usage): Usage {
  return {
    serverSeconds: after.serverSeconds - before.serverSeconds,
    databaseSeconds: after.databaseSeconds - before.databaseSeconds,
    loadSeconds: after.loadSeconds - before.loadSeconds,
    busySeconds: after.busySeconds - before.busySeconds,
    idleSeconds: after.idleSeconds - before.idleSeconds,
  }
}

/** The share of the machine that went to processes which have no part in the bench, or to other machines on the host. */
export function shareOfOthers(usage: Usage): number {
  const { serverSeconds, databaseSeconds, loadSeconds, busySeconds, idleSeconds } = usage
  return Math.max(0, (busySeconds - serverSeconds - databaseSeconds - loadSeconds) / (busySeconds + idleSeconds))
}

/** From the first line of /proc/stat; see proc_stat(5). Waiting for the disk is idle time. */
export function readMachineSeconds(): Pick<Usage, 'busySeconds' | 'idleSeconds'> {
  const ticks = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]!.trim().split(/ +/).slice(1, 9).map(Number)
  const idle = ticks[3]! + ticks[4]!
  const all = ticks.reduce((sum, part) => sum + part, 0)
  return { busySeconds: (all - idle) / ticksPerSecond, idleSeconds: idle / ticksPerSecond }
}

/** Resident memory of a process. */
export function readRssBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}

/** Processor seconds of a postmaster with its children; those that have ended are counted with it. */
export function readTreeSeconds(postmaster: number): number {
  const { own, ended } = readSeconds(postmaster)
  let seconds = own + ended
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    try {
      if (readSeconds(Number(name)).parent === postmaster) seconds += readExactSeconds(Number(name))
    } catch {
      // It ended between the look into the folder and the look at the file; the postmaster has its time.
    }
  }
  return seconds
}

/** Linux counts in hundredths of a second on every machine that Node.js runs on. */
const ticksPerSecond = 100

/**
 * Processor seconds of a process with one thread, as each of PostgreSQL's is, to the nanosecond: a dozen of them that
 * wake for a moment each second would hide in what is counted in hundredths.
 */
function readExactSeconds(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e9
}

/** What a process used, and what those that it started and waited for did. */
export function readSeconds(pid: number): { parent: number; own: number; ended: number } {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name, in parentheses, may hold anything; the numbers follow its end. See proc_pid_stat(5).
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15) as [number, number, number, number]
  return {
    parent: fields[1]!,
    own: (user + system) / ticksPerSecond,
    ended: (endedUser + endedSystem) / ticksPerSecond,
  }
}
