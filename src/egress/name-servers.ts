import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import type { Resolve } from './egress.ts'

/** A server that has not answered by then is asked once more, for twice as long. */
const patience = { timeout: 2_000, tries: 2 }

/**
 * Asks the name servers themselves, those of the system by default: /etc/hosts does not count. Takes no thread, so that
 * names nobody answers for, which anybody can have, keep nobody else's from being resolved: the system's resolver has two
 * threads for all names together, and holds each for as long as it waits.
 */
export function askNameServers(servers?: readonly string[]): Resolve {
  return async host => {
    // Made anew each time, because it reads only once which servers the system has.
    const resolver = new Resolver(patience)
    if (servers !== undefined) resolver.setServers(servers)
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason as Error
    return [...toAddresses(four, 4), ...toAddresses(six, 6)]
  }
}

function toAddresses(found: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return found.status === 'rejected' ? [] : found.value.map(address => ({ address, family }))
}
