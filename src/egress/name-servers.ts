import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { Resolve } from './egress.ts'

/** A server that has not answered in time is asked once more, for twice as long. */
const resolverOptions = { timeout: 2_000, tries: 2 }

/**
 * Queries name servers directly, by default the system's; /etc/hosts does not count. Unlike the system's resolver, it
 * blocks no thread: that resolver has two threads for all names, so names that no server answers, which anyone can own,
 * would hold up all others.
 */
export function askNameServers(servers?: readonly string[]): Resolve {
  return async host => {
    // A new resolver each time, because it reads the system's servers only once.
    const resolver = new Resolver(resolverOptions)
    if (servers !== undefined) resolver.setServers(servers)
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason as Error
    return [...toAddresses(four, 4), ...toAddresses(six, 6)]
  }
}

function toAddresses(found: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return found.status === 'rejected' ? [] : found.value.map(address => ({ address, family }))
}
